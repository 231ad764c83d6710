//! The report of a run, from its document alone: `status` prints the same on any host.

use mooring_workflow::status::Remaining;
use mooring_workflow::{CompletedStep, Finish, Phase, Workflow as _};
use std::fmt::Write as _;

use mooring_redact::{markdown, markdown_code};

use crate::plan::Step;
use crate::workflow::{PoolRepair, Run};

/// Status and history of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    pub run: String,
    /// Resource id of the cluster.
    pub cluster: String,
    pub pool: String,
    pub plan_hash: String,
    /// None if it can be resumed.
    pub finish: Option<Finish>,
    /// It is being rolled back.
    pub undoing: bool,
    pub step: Option<Step>,
    pub steps: Vec<CompletedStep<Step>>,
    pub overrides: Vec<String>,
    /// Lost or remaining items.
    pub left: Vec<Remaining>,
    pub stopped: Option<String>,
}

impl RunReport {
    pub fn of(run: &Run) -> Self {
        let overrides = run.session.settings().overrides;
        Self {
            run: run.id.clone(),
            cluster: run.session.plan.cluster.clone(),
            pool: run.session.plan.pool.clone(),
            plan_hash: run.session.plan.token().to_string(),
            finish: match run.phase {
                Phase::Finished(finish) => Some(finish),
                Phase::Running | Phase::Aborting => None,
            },
            undoing: run.phase == Phase::Aborting,
            step: run.step(),
            steps: run.done.clone(),
            overrides: overrides.iter().map(|(name, why)| format!("{name}: {why}")).collect(),
            left: PoolRepair::remaining(run),
            stopped: run.stopped.clone(),
        }
    }

    /// Returns true if checks that passed at the start failed in the step `recheck`.
    pub fn refused_at_recheck(&self) -> bool {
        self.finish == Some(Finish::Refused) && self.step == Some(Step::Recheck)
    }

    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# Run {}: {}\n\nPool {} of {}, plan {}.\n\n| step | evidence |\n|---|---|\n",
            markdown_code(&self.run),
            self.result(),
            markdown_code(&self.pool),
            markdown_code(&self.cluster),
            markdown_code(&self.plan_hash)
        );
        for done in &self.steps {
            let _ = writeln!(
                text,
                "| {} | {} |",
                done.step.name(),
                markdown(&done.evidence.join("; "))
            );
        }
        let overridden = self.overrides.iter().map(|line| ("Overridden", line));
        let remaining = self.left.iter().map(|left| ("Remaining", &left.what));
        for (word, line) in overridden.chain(remaining) {
            let _ = writeln!(text, "\n- {word}: {}", markdown(line));
        }
        if self.finish.is_none() {
            let stopped = self.stopped.as_ref().map(|why| format!(": {}", markdown(why)));
            let stopped = stopped.unwrap_or_default();
            let _ = writeln!(text, "\n- Now: {}{stopped}", self.place());
        }
        text
    }

    fn place(&self) -> String {
        match self.step {
            _ if self.undoing => "rolling back".to_owned(),
            Some(step) => format!("step {}/{} {}", step.number(), Step::ALL.len(), step.name()),
            None => "finished".to_owned(),
        }
    }

    fn result(&self) -> &'static str {
        match self.finish {
            None if self.undoing => "UNFINISHED (rollback); continue with `mooring repair abort`",
            None => "UNFINISHED; continue with `mooring repair resume`",
            Some(Finish::Complete | Finish::Partial) => "REPAIRED",
            Some(Finish::NothingToDo) => "NOTHING TO DO",
            Some(Finish::Refused) => "BLOCKED",
            Some(Finish::Aborted) => "ABORTED",
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    /// A screen clear, a direction mark, Markdown, HTML, and line breaks.
    const HOSTILE: &str = "x\u{1b}[2J\u{202e}|`a`<script>\n| b | c |\nnow        done\r";

    fn hostile() -> RunReport {
        let all = || vec![HOSTILE.to_owned()];
        RunReport {
            run: HOSTILE.to_owned(),
            cluster: HOSTILE.to_owned(),
            pool: HOSTILE.to_owned(),
            plan_hash: HOSTILE.to_owned(),
            finish: None,
            undoing: false,
            step: Some(Step::Recheck),
            steps: vec![CompletedStep {
                step: Step::Snapshot,
                at: Timestamp::UNIX_EPOCH,
                evidence: all(),
            }],
            overrides: all(),
            left: vec![HOSTILE.to_owned().into()],
            stopped: Some(HOSTILE.to_owned()),
        }
    }

    fn is_safe(text: &str) -> bool {
        text.chars().all(|c| c == '\n' || !mooring_redact::is_hidden(c))
    }

    #[test]
    fn forged_journal_adds_no_row_or_markup_to_markdown() {
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
