//! Preflight as the first phase of a bootstrap.

use super::failure::{Failure, NOT_STARTED};
use crate::cli::Stage;
use crate::node::agent::Agent;
use crate::node::log::Value;
use crate::preflight::{self, Facts, Verdict};

/// Runs the checks that `provision` does not do itself: it has read an earlier run's result, the hotfix state and
/// the config, and will read the component list.
pub(super) fn check(agent: &mut Agent<'_>, config: preflight::Config<'_>) -> Result<(), Failure> {
    let checks = preflight::CHECKS
        .iter()
        .filter(|check| !matches!(check.name, "left-over" | "config" | "components" | "hotfix"));
    let layout = agent.layout.clone();
    let facts =
        Facts { stage: Stage::Node, layout: &layout, version: agent.version, config, imds: None };
    let results = preflight::run(agent.world, &facts, checks);
    for (check, finding) in &results {
        let evidence = finding.evidence.join("; ");
        let attributes = [
            ("check", Value::Text(check.name)),
            ("evidence", Value::Text(&evidence)),
            ("action", Value::Text(finding.action)),
        ];
        let message = format!("preflight: {}", finding.summary);
        match finding.verdict {
            Verdict::Warning => agent.warn(&message, &attributes),
            Verdict::Fatal => agent.error(&message, &attributes),
            Verdict::Pass | Verdict::Skipped => {}
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
