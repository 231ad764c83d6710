//! The report of a run, made from its journal alone: `status` on any machine says the same.

use jiff::Timestamp;
use mooring_contract::printable::Lines;
use serde::Serialize;

use super::effect::{Effect, why_not};
use super::entry::{Entry, Leftover};
use super::state::State;
use super::step::Step;
use crate::journal::{JournalError, Record};
use crate::report::StepReport;

/// How things stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// There was nothing to do.
    Clean,
    /// Everything was removed.
    Acted,
    /// Something is left.
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
    /// How things stand.
    pub result: Verdict,
    /// The profile's name.
    pub profile: String,
    /// The run; empty if none was begun.
    pub run: String,
    /// The approved plan.
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

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectReport {
    /// When.
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
    pub fn of(records: &[Record<Entry>]) -> Result<Option<Self>, JournalError> {
        let Some(state) = State::replay(records)? else { return Ok(None) };
        let result = match &state.finished {
            None => Verdict::Interrupted,
            Some(left) if !left.is_empty() => Verdict::Leftovers,
            Some(_) if state.acted() => Verdict::Acted,
            Some(_) => Verdict::Clean,
        };
        let name = &state.profile.name;
        let mut report = Self {
            run: state.run.clone(),
            started: Some(state.started),
            left: state.finished.clone().unwrap_or_default(),
            ..Self::without_run(name, state.plan_hash.as_str(), result, None)
        };
        let mut open: Option<&Effect> = None;
        for record in records.iter().filter(|record| record.run == state.run) {
            report.last = Some(record.at);
            match &record.entry {
                Entry::StepDone { step, proof } => {
                    let proof = proof.clone();
                    report.steps.push(StepReport { step: *step, at: record.at, proof });
                }
                Entry::Intent { effect, .. } => {
                    open = Some(effect);
                    let removed = match &**effect {
                        Effect::Strip { removed, .. } => removed.clone(),
                        _ => Vec::new(),
                    };
                    let what = format!("{} {}", effect.verb(), effect.target());
                    report.effects.push(EffectReport {
                        at: record.at,
                        what,
                        removed,
                        refused: None,
                    });
                }
                Entry::Outcome { result, .. } => {
                    let why = open.take().and_then(|effect| why_not(effect, result));
                    if let Some(last) = report.effects.last_mut() {
                        last.refused = why;
                    }
                }
                Entry::Stopped { message, .. } => report.stopped = Some(message.clone()),
                Entry::Resumed { .. } => {
                    report.stopped = None;
                    report.steps.clear();
                }
                _ => {}
            }
        }
        Ok(Some(report))
    }

    /// Lines for a terminal.
    #[must_use]
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
