//! All rules in evaluation order.

use mooring_codes::{Date, Os, Owner, Transient};

use crate::cause::wording::{Tier, Wording};
use crate::cause::{Cause, Component, Confidence, Stage, TextSubject};
use crate::decode::{BootstrapOutcome, Decoded, Situation};
use crate::text::scan::Clue;

pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    let all = RULES.iter();
    #[cfg(test)]
    let all = all.filter(|rule| !crate::diagnose::removal::is_removed(rule.name));
    all
}

pub(crate) fn rule_names() -> impl Iterator<Item = &'static str> {
    all().map(|rule| rule.name)
}

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

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

const fn day(year: u16, month: u8, day: u8) -> Date {
    match Date::new(year, month, day) {
        Some(date) => date,
        None => self::day(1, 1, 1),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::{Rule, all};
    use crate::cause::Confidence;
    use crate::decode::BootstrapOutcome;
    use crate::diagnose::removal::corpus;

    #[test]
    fn rules_have_unique_names_reasons_and_actions() {
        let mut names = BTreeSet::new();
        for rule in all() {
            assert!(!rule.name.is_empty() && names.insert(rule.name), "{}", rule.name);
            let letters = rule.cause.reason.bytes().all(|byte| byte.is_ascii_alphanumeric());
            assert!(letters && rule.cause.reason.starts_with(|c: char| c.is_ascii_uppercase()));
            assert!(
                !rule.cause.summary.is_empty() && !rule.cause.actions.is_empty(),
                "{}",
                rule.name
            );
        }
    }

    #[test]
    fn rule_without_quoted_evidence_has_a_counterexample() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
        let cases = corpus::read(&corpus).unwrap().into_iter();
        let disproved: BTreeSet<String> = cases
            .filter_map(|case| serde_json::from_str::<serde_json::Value>(&case.expected).ok())
            .filter_map(|expected| expected["disproves"].as_str().map(str::to_owned))
            .collect();
        let infers = |rule: &&Rule| {
            let quotes = !rule.clues.is_empty() || rule.error;
            !quotes && rule.outcome == BootstrapOutcome::Failed && rule.confidence > Confidence::Low
        };
        let missing: Vec<_> = all().filter(infers).map(|rule| rule.name).collect();
        let missing: Vec<_> =
            missing.into_iter().filter(|name| !disproved.contains(*name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn rule_without_clues_never_has_high_confidence() {
        for rule in all().filter(|rule| rule.clues.is_empty() && !rule.error) {
            assert!(rule.confidence < Confidence::High, "{}", rule.name);
        }
    }
}
