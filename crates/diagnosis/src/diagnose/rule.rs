//! Rules (`data/rules`) that find the cause of a code by evidence.
//!
//! The first matching rule is the diagnosis; without one, the row of the exit code is.

use mooring_codes::{Date, Os};

use crate::cause::confidence::Confidence;
use crate::cause::entry::Cause;
use crate::decode::decoded::{BootstrapOutcome, Decoded, Situation};
use crate::text::clues::Clue;

/// A rule for more codes is general.
pub(crate) const MAX_CODES: usize = 5;

/// One clue of each group is required.
pub(crate) type Groups = &'static [&'static [Clue]];

/// One rule. Empty fields and `None` match everything.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) cause: &'static Cause,
    pub(crate) codes: &'static [i32],
    pub(crate) os: Option<Os>,
    pub(crate) situation: Option<Situation>,
    pub(crate) outcome: BootstrapOutcome,
    /// First date of affected images, and the first date after them.
    pub(crate) images: Option<(Date, Date)>,
    /// Minimum and maximum run time of the scripts.
    pub(crate) seconds: Option<(u32, u32)>,
    /// Steps that may have been running.
    pub(crate) steps: &'static [&'static str],
    /// Requires a non-empty `Error` in the report, which is then quoted.
    pub(crate) error: bool,
    pub(crate) clues: Groups,
    /// Clues that exclude the rule.
    pub(crate) without: &'static [Clue],
    /// Requires all clues in one line.
    pub(crate) in_one_line: bool,
    /// A clue alone has this cause, although other rules have the clue as well.
    pub(crate) alone: bool,
    /// Correct code of the cause, if different.
    pub(crate) effective: Option<(i32, &'static str)>,
    /// Reduced by the caller without evidence.
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
        let has_error =
            decoded.status.as_ref().is_some_and(|status| !status.error.trim().is_empty());
        let error = !self.error || has_error;
        code && os && situation && outcome && images && seconds && steps && error
    }
}
