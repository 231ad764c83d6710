//! Rules: what evidence makes of a code.
//!
//! A rule is data. The first that fits is told; where none fits, the catalogue answers.
//!
//! | file | rules about |
//! |---|---|
//! | `registry` | oras, the bootstrap registry, its rights and names |
//! | `time` | what ran out of time, or never ran |
//! | `network` | egress, DNS, proxies, TLS |
//! | `node` | disk, locks, metadata, kubelet, the image |
//! | `windows` | the same causes in the words and numbers of Windows |

mod network;
mod node;
mod registry;
mod time;
mod windows;

use mooring_codes::{Date, Os, Owner};

use crate::clues::{Clue, Groups};
use crate::decoded::{Decoded, Outcome, Situation};
use crate::diagnosis::Confidence;
use crate::stage::Stage;

/// One rule. Whatever is empty or `None` fits everything.
pub(crate) struct Rule {
    /// Tells it from others with the same reason.
    pub(crate) name: &'static str,
    /// The stable word in Pascal case for labels and conditions.
    pub(crate) reason: &'static str,
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
    pub(crate) owner: Owner,
    pub(crate) stage: Stage,
    pub(crate) summary: &'static str,
    pub(crate) actions: &'static [&'static str],
}

impl Rule {
    /// What the tables' rules start from.
    const ANY: Self = Self {
        name: "",
        reason: "",
        codes: &[],
        os: Some(Os::Linux),
        situation: None,
        outcome: Outcome::Failed,
        images: None,
        seconds: None,
        steps: &[],
        error: false,
        clues: &[],
        without: &[],
        in_one_line: false,
        effective: None,
        confidence: Confidence::Medium,
        owner: Owner::Operator,
        stage: Stage::Bootstrap,
        summary: "",
        actions: &[],
    };

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

/// A day of a table.
const fn day(year: u16, month: u8, day: u8) -> Date {
    match Date::new(year, month, day) {
        Some(date) => date,
        None => self::day(1, 1, 1),
    }
}

/// All rules, the most telling first.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    let linux = registry::RULES.iter().chain(node::RULES).chain(network::RULES);
    let all = linux.chain(windows::RULES).chain(time::RULES);
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
            let letters = rule.reason.bytes().all(|byte| byte.is_ascii_alphanumeric());
            assert!(letters && rule.reason.starts_with(|c: char| c.is_ascii_uppercase()));
            assert!(!rule.summary.is_empty() && !rule.actions.is_empty(), "{}", rule.name);
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
