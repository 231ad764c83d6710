//! Rules: what evidence makes of a code.
//!
//! A rule is data (`data/rules`). The first that fits is the diagnosis; without one, the exit code's row is.

use mooring_codes::{Date, Os};

use crate::causes::Cause;
use crate::decoded::{Decoded, Outcome, Situation};
use crate::diagnosis::Confidence;
use crate::tables::{Clue, RULES};

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
    /// Whether everything but the clues fits.
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

/// All rules, the most telling first.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    let all = RULES.iter();
    #[cfg(test)]
    let all = all.filter(|rule| !crate::removal::is_removed(rule.name));
    all
}

pub(crate) fn rule_names() -> impl Iterator<Item = &'static str> {
    all().map(|rule| rule.name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::{Confidence, Outcome, Rule, all};

    #[test]
    fn every_rule_has_a_name_of_its_own_a_reason_and_an_action() {
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
    fn a_rule_that_quotes_no_proof_has_a_case_that_disproves_it() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
        let folders = fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path());
        let disproved: BTreeSet<String> = folders
            .filter_map(|path| fs::read(path.join("expected.json")).ok())
            .filter_map(|json| serde_json::from_slice::<serde_json::Value>(&json).ok())
            .filter_map(|expected| expected["disproves"].as_str().map(str::to_owned))
            .collect();
        let infers = |rule: &&Rule| {
            let quotes = !rule.clues.is_empty() || rule.error;
            !quotes && rule.outcome == Outcome::Failed && rule.confidence > Confidence::Low
        };
        let missing: Vec<_> = all().filter(infers).map(|rule| rule.name).collect();
        let missing: Vec<_> =
            missing.into_iter().filter(|name| !disproved.contains(*name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn a_rule_without_clues_is_never_sure() {
        for rule in all().filter(|rule| rule.clues.is_empty() && !rule.error) {
            assert!(rule.confidence < Confidence::High, "{}", rule.name);
        }
    }
}
