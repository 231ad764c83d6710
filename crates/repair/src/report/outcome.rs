//! The report of a run, made from its journal alone: `status` on any machine says the same.

use mooring_workflow::report::{History, StepReport};
use mooring_workflow::{Effect as _, Step as _};
use std::fmt::Write as _;

use jiff::Timestamp;
use mooring_redact::{Lines, markdown, markdown_code};
use serde::Serialize;

use crate::plan::Step;
use crate::workflow::{Finish, Record, RepairRun as _};
use mooring_workflow::Phase;
use mooring_workflow::journal::JournalError;

/// Where a run stands and what it did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// `mooring.repair/v1`
    pub schema: &'static str,
    pub run: String,
    /// The cluster's resource id.
    pub cluster: String,
    pub pool: String,
    pub plan_hash: String,
    pub started: Timestamp,
    pub last: Timestamp,
    /// How it ended; none if it can be resumed.
    pub finish: Option<Finish>,
    /// True if it is being undone.
    pub undoing: bool,
    /// The step that is worked on.
    pub step: Option<Step>,
    /// Steps that reached their goal.
    pub steps: Vec<StepReport<Step>>,
    /// Changes that were made or tried, in order.
    pub effects: Vec<String>,
    /// Guards and proofs that were overridden.
    pub overrides: Vec<String>,
    /// What stays behind or was lost.
    pub left: Vec<String>,
    /// Why it stopped last.
    pub stopped: Option<String>,
}

impl RunReport {
    /// The report of the journal's last run; none if there is none.
    pub fn of(records: &[Record]) -> Result<Option<Self>, JournalError> {
        let Some(history) = History::read(records)? else { return Ok(None) };
        let run = &history.run;
        let overrides = run.session.settings().overrides;
        Ok(Some(Self {
            schema: "mooring.repair/v1",
            run: run.id.clone(),
            cluster: run.session.plan.cluster.clone(),
            pool: run.pool().to_owned(),
            plan_hash: run.facts.plan_hash.to_string(),
            started: run.started,
            last: history.last,
            finish: match run.phase {
                Phase::Finished(finish) => Some(finish),
                Phase::Running | Phase::Aborting => None,
            },
            undoing: run.phase == Phase::Aborting,
            step: run.step(),
            steps: history.steps,
            effects: history.effects.iter().map(|(_, effect, _)| effect.key()).collect(),
            overrides: overrides.iter().map(|(name, why)| format!("{name}: {why}")).collect(),
            left: if run.is_finished() { run.left.clone() } else { run.losses() },
            stopped: history.stopped,
        }))
    }

    /// True if guards that had passed at the start did not any more when they were asked again.
    pub fn refused_at_recheck(&self) -> bool {
        self.finish == Some(Finish::Refused) && self.step == Some(Step::Recheck)
    }

    /// Lines for a terminal.
    pub fn table(&self) -> String {
        let mut text = Lines::default();
        text.line(format_args!("run {} of pool {}: {}", self.run, self.pool, self.word()));
        for done in &self.steps {
            text.line(done.line(self.started, done.step.name()).trim_end());
        }
        for (word, lines) in [("overridden", &self.overrides), ("left", &self.left)] {
            for line in lines {
                text.line(format_args!("{word:<10} {line}"));
            }
        }
        // What a finished run was stopped by stands among what is left.
        if self.finish.is_some() {
            return text.into();
        }
        text.line(format_args!("now        {}", self.place()));
        if let Some(stopped) = &self.stopped {
            text.line(format_args!("stopped    {stopped}"));
        }
        text.into()
    }

    /// For a ticket or a review.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# Run {}: {}\n\nPool {} of {}, plan {}.\n\n| step | proof |\n|---|---|\n",
            markdown_code(&self.run),
            self.word(),
            markdown_code(&self.pool),
            markdown_code(&self.cluster),
            markdown_code(&self.plan_hash)
        );
        for done in &self.steps {
            let _ =
                writeln!(text, "| {} | {} |", done.step.name(), markdown(&done.proof.join("; ")));
        }
        for (word, lines) in [("Overridden", &self.overrides), ("Left", &self.left)] {
            for line in lines {
                let _ = writeln!(text, "\n- {word}: {}", markdown(line));
            }
        }
        if self.finish.is_none() {
            let stopped = self.stopped.as_ref().map(|why| format!(": {}", markdown(why)));
            let stopped = stopped.unwrap_or_default();
            let _ = writeln!(text, "\n- Now: {}{stopped}", self.place());
        }
        text
    }

    /// What is worked on.
    fn place(&self) -> String {
        match self.step {
            _ if self.undoing => "being undone".to_owned(),
            Some(step) => format!("step {}/{} {}", step.number(), Step::ALL.len(), step.name()),
            None => "at its end".to_owned(),
        }
    }

    fn word(&self) -> &'static str {
        match self.finish {
            None if self.undoing => "not undone yet; `abort` or `resume` goes on with that",
            None => "not over; `resume` continues it",
            Some(Finish::Repaired) => "repaired",
            Some(Finish::NothingToDo) => "nothing to do",
            Some(Finish::Refused) => "refused",
            Some(Finish::Aborted) => "aborted",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A screen clear, a direction mark, Markdown, HTML, and lines of its own.
    const HOSTILE: &str = "x\u{1b}[2J\u{202e}|`a`<script>\n| b | c |\nnow        done\r";

    fn hostile() -> RunReport {
        let all = || vec![HOSTILE.to_owned()];
        RunReport {
            schema: "mooring.repair/v1",
            run: HOSTILE.to_owned(),
            cluster: HOSTILE.to_owned(),
            pool: HOSTILE.to_owned(),
            plan_hash: HOSTILE.to_owned(),
            started: Timestamp::UNIX_EPOCH,
            last: Timestamp::UNIX_EPOCH,
            finish: None,
            undoing: false,
            step: Some(Step::Recheck),
            steps: vec![StepReport {
                step: Step::Snapshot,
                at: Timestamp::UNIX_EPOCH,
                proof: all(),
            }],
            effects: all(),
            overrides: all(),
            left: all(),
            stopped: Some(HOSTILE.to_owned()),
        }
    }

    fn is_safe(text: &str) -> bool {
        text.chars().all(|c| c == '\n' || !mooring_redact::is_hidden(c))
    }

    #[test]
    fn a_forged_journal_adds_no_line_to_the_table() {
        let table = hostile().table();
        assert!(is_safe(&table), "{table:?}");
        assert_eq!(table.lines().count(), 6, "{table}");
        assert_eq!(table.lines().filter(|line| line.starts_with("now ")).count(), 1, "{table}");
    }

    #[test]
    fn a_forged_journal_adds_no_row_or_markup_to_markdown() {
        let text = hostile().markdown();
        assert!(is_safe(&text), "{text:?}");
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), 3, "{text}");
        let bars = |row: &&str| row.replace("\\|", "").matches('|').count() == 3;
        assert!(rows.iter().all(bars), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with('#')).count(), 1, "{text}");
        let prose = text.lines().filter(|line| line.starts_with(['|', '-']));
        assert!(!prose.collect::<String>().contains("<script>"), "{text}");
    }
}
