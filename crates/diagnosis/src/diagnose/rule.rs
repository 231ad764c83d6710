//! Rules: what evidence makes of a code.
//!
//! A rule is data (`data/rules`). The first that fits is the diagnosis; without one, the exit code's row is.

use mooring_codes::{Date, Os};

use crate::cause::confidence::Confidence;
use crate::cause::entry::Cause;
use crate::decode::decoded::{Decoded, Outcome, Situation};
use crate::text::clues::Clue;

/// Of each group, one clue must be there.
pub(crate) type Groups = &'static [&'static [Clue]];

/// One rule. Whatever is empty or `None` fits everything.
pub(crate) struct Rule {
    /// Tells it from others with the same reason.
    pub(crate) name: &'static str,
    pub(crate) cause: &'static Cause,
    /// The reported codes that it is about.
    pub(crate) codes: &'static [i32],
    pub(crate) os: Option<Os>,
    pub(crate) situation: Option<Situation>,
    pub(crate) outcome: Outcome,
    /// The first day of an image for which it holds, and the first for which it no longer does.
    pub(crate) images: Option<(Date, Date)>,
    /// Seconds that the scripts ran.
    pub(crate) seconds: Option<(u32, u32)>,
    /// The step that was running.
    pub(crate) steps: &'static [&'static str],
    /// Whether the report's own `Error` must say something, which is then quoted.
    pub(crate) error: bool,
    /// Of each group, one clue must be there.
    pub(crate) clues: Groups,
    /// Clues that prove it wrong.
    pub(crate) without: &'static [Clue],
    /// Whether the clues must stand in one line.
    pub(crate) in_one_line: bool,
    /// The code that the cause should have had, if another.
    pub(crate) effective: Option<(i32, &'static str)>,
    /// High only with evidence; whoever applies a rule sees to it.
    pub(crate) confidence: Confidence,
}

impl Rule {
    pub(crate) fn fits(&self, decoded: &Decoded, os: Option<Os>, day: Option<Date>) -> bool {
        let code = self.codes.is_empty() || decoded.code.is_some_and(|c| self.codes.contains(&c));
        let os = self.os.is_none() || self.os == os;
        let situation = self.situation.is_none() || self.situation == decoded.situation;
        let outcome = self.outcome == decoded.outcome;
        let images = self
            .images
            .is_none_or(|(from, until)| day.is_some_and(|day| from <= day && day < until));
        let seconds = self
            .seconds
            .is_none_or(|(from, to)| decoded.exec_duration.is_some_and(|s| from <= s && s <= to));
        let step = decoded.step.as_deref().unwrap_or_default();
        let steps = self.steps.is_empty()
            || self.steps.iter().any(|wanted| step.split('.').any(|part| part == *wanted));
        let said = decoded.status.as_ref().is_some_and(|status| !status.error.trim().is_empty());
        let error = !self.error || said;
        code && os && situation && outcome && images && seconds && steps && error
    }
}
