//! All rules in evaluation order.

use crate::diagnose::rule::Rule;
use crate::diagnose::tables::RULES;

pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    let all = RULES.iter();
    #[cfg(test)]
    let all = all.filter(|rule| !crate::diagnose::removal::is_removed(rule.name));
    all
}

pub(crate) fn rule_names() -> impl Iterator<Item = &'static str> {
    all().map(|rule| rule.name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::{Rule, all};
    use crate::cause::confidence::Confidence;
    use crate::decode::decoded::BootstrapOutcome;
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
