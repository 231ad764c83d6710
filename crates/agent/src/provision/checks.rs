//! Preflight as the first phase of a bootstrap.

use super::failure::{Failure, NOT_STARTED};
use crate::node::agent::Agent;
use crate::node::log::LogValue::Text;
use crate::preflight::{self, PreflightFacts, PreflightVerdict};

/// Runs the checks that `provision` does not do itself: it has read an earlier run's result, the hotfix state and
/// the config, and will read the component list.
pub(super) fn check(
    agent: &mut Agent<'_>,
    config: preflight::ConfigState<'_>,
) -> Result<(), Failure> {
    let checks = preflight::CHECKS
        .iter()
        .filter(|check| !matches!(check.name, "left-over" | "config" | "components" | "hotfix"));
    let layout = agent.layout.clone();
    let facts = PreflightFacts::of_node(&layout, agent.version, config);
    let results = preflight::run(agent.world, &facts, checks);
    for (check, finding) in &results {
        let evidence = finding.evidence.join("; ");
        let attributes = [
            ("check", Text(check.name)),
            ("evidence", Text(&evidence)),
            ("action", Text(finding.action)),
        ];
        let message = format!("preflight: {}", finding.summary);
        match finding.verdict {
            PreflightVerdict::Warning => agent.warn(&message, &attributes),
            PreflightVerdict::Fatal => agent.error(&message, &attributes),
            PreflightVerdict::Pass | PreflightVerdict::Skipped => {}
        }
    }
    match preflight::first_fatal(&results) {
        Some((check, finding)) => Err(Failure::preflight(
            check.code.unwrap_or(NOT_STARTED),
            &finding.summary,
            preflight::report(&results),
        )),
        None => Ok(()),
    }
}
