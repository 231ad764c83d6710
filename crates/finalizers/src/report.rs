//! The report of a run, made from its journal alone: `status` on any machine says the same.

use jiff::Timestamp;
use mooring_redact::Lines;
use serde::Serialize;

use crate::effect::{Effect, why_not};
use crate::step::Step;
use crate::workflow::{Finish, Leftover, Record, RemovalRun as _, Session};
use mooring_workflow::journal::JournalError;
use mooring_workflow::report::{History, StepReport};
use mooring_workflow::{EffectResult, Phase, Step as _};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// There was nothing to do.
    Clean,
    Acted,
    Leftovers,
    /// Nothing was begun, for a reason that `stopped` says.
    Refused,
    /// The run is not over; `resume` continues it.
    Interrupted,
}

/// What was done, and what is left.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// `mooring.finalizers/v1`
    pub schema: &'static str,
    pub result: Verdict,
    pub profile: String,
    /// The run; empty if none was begun.
    pub run: String,
    pub plan_hash: String,
    /// When it began, and its last record.
    pub started: Option<Timestamp>,
    /// See `started`.
    pub last: Option<Timestamp>,
    /// Steps that came to their end.
    pub steps: Vec<StepReport<Step>>,
    /// Changes that were made or tried, in order.
    pub effects: Vec<EffectReport>,
    /// What is left, and why.
    pub left: Vec<Leftover>,
    /// Why it stopped, or was not begun.
    pub stopped: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectReport {
    pub at: Timestamp,
    /// What, to which object.
    pub what: String,
    /// Finalizers that it removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Why it did not come about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl RunReport {
    /// The report of a command that began no run.
    #[must_use]
    pub fn without_run(
        profile: &str,
        plan_hash: &str,
        result: Verdict,
        why: Option<String>,
    ) -> Self {
        Self {
            schema: "mooring.finalizers/v1",
            result,
            profile: profile.to_owned(),
            run: String::new(),
            plan_hash: plan_hash.to_owned(),
            started: None,
            last: None,
            steps: Vec::new(),
            effects: Vec::new(),
            left: Vec::new(),
            stopped: why,
        }
    }

    /// The report of the journal's last run; none if there is none.
    pub fn of(records: &[Record]) -> Result<Option<Self>, JournalError> {
        let Some(history) = History::read(records)? else { return Ok(None) };
        let run = &history.run;
        let result = match run.phase {
            Phase::Finished(Finish::Leftovers) => Verdict::Leftovers,
            Phase::Finished(Finish::Clean) if run.acted() => Verdict::Acted,
            Phase::Finished(Finish::Clean) => Verdict::Clean,
            Phase::Running | Phase::Aborting => Verdict::Interrupted,
        };
        let Session { profile, plan_hash, .. } = &run.session;
        let effect =
            |(at, effect, result): &(Timestamp, Effect, Option<EffectResult>)| EffectReport {
                at: *at,
                what: format!("{} {}", effect.verb(), effect.target()),
                removed: match effect {
                    Effect::Strip { removed, .. } => removed.clone(),
                    _ => Vec::new(),
                },
                refused: result.as_ref().and_then(|result| why_not(effect, result)),
            };
        Ok(Some(Self {
            run: run.id.clone(),
            started: Some(run.started),
            last: Some(history.last),
            steps: history.steps,
            effects: history.effects.iter().map(effect).collect(),
            left: run.left.clone(),
            ..Self::without_run(&profile.name, plan_hash.as_str(), result, history.stopped)
        }))
    }

    /// Lines for a terminal.
    pub fn table(&self) -> String {
        let word = match self.result {
            Verdict::Clean => "clean, nothing to do",
            Verdict::Acted => "removed",
            Verdict::Leftovers => "not everything could be removed",
            Verdict::Refused => "refused, nothing was changed",
            Verdict::Interrupted => "not over",
        };
        let mut text = Lines::default();
        text.line(format_args!("{}: {word}", self.profile));
        for done in &self.steps {
            let started = self.started.unwrap_or(done.at);
            text.line(done.line(started, done.step.name()).trim_end());
        }
        for left in &self.left {
            let place = left.namespace.as_ref().map(|one| format!("{one}/")).unwrap_or_default();
            let (resource, name, why) = (&left.resource, &left.name, &left.why);
            text.line(format_args!("left     {resource} {place}{name}: {why}"));
        }
        if let Some(stopped) = &self.stopped {
            text.line(format_args!("stopped  {stopped}"));
        }
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_adds_no_line_to_the_table() {
        let why = Some("webhook \u{1b}[2Jsaid\nleft     forged \u{202e}x".to_owned());
        let report = RunReport::without_run("p\nforged", "h", Verdict::Refused, why);
        let text = report.table();
        assert_eq!(text.lines().count(), 2, "{text:?}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    }
}
