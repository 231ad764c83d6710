//! The step that was running when a bootstrap failed.

use super::spans::end_of_bootstrap;
use crate::model::steps;
use crate::model::timeline::{SpanKind, SpanSource, TimelineOutcome};
use crate::read::FoundSpan;
use crate::read::collect::NodeData;

/// Finds the step that was running when the run failed. Adds a span if its start is known.
pub(super) fn running(
    data: &NodeData,
    outcome: TimelineOutcome,
    code: Option<i64>,
    found: &mut Vec<FoundSpan>,
) -> Option<(String, String)> {
    if outcome == TimelineOutcome::Succeeded {
        return None;
    }
    let steps = || found.iter().filter(|one| one.kind == SpanKind::Step);
    let last_done = steps().filter(|one| one.end.is_some()).max_by_key(|one| one.end);
    let last_end = last_done.and_then(|one| one.end);
    let called = data.called.filter(|called| {
        let open = data.open.last().map_or("", |(name, _)| name.as_str());
        steps::exits_with(called, code) && !steps::exits_with(open, code)
    });
    let (name, evidence) = match data.open.last() {
        Some(_) if called.is_some() => (
            format!("AKS.CSE.{}", called.unwrap_or_default()),
            format!("called in the script trace, and exits with code {}", code.unwrap_or_default()),
        ),
        Some((name, _)) => {
            (name.clone(), "started but not finished in the script trace".to_owned())
        }
        // Without a report and a trace, no failure is known.
        // Errors of the agent precede all scripts, and its exit codes are also those of later steps.
        None if last_done.is_none() && is_agents_own(data) => return None,
        // The code in the failure record alone may be that of several steps.
        None if data.report.is_none() && data.life.is_some() => return None,
        None if outcome == TimelineOutcome::Failed => {
            steps::infer(last_done.map(|one| one.name.as_str()), code)?
        }
        None => return None,
    };
    let exists = steps().any(|one| one.name == name && one.end.is_none());
    let run_start = found.iter().find(|one| one.kind == SpanKind::Run).map(|one| one.start);
    if !exists && let Some(start) = last_end.or(run_start) {
        let end = end_of_bootstrap(found);
        if end.is_none_or(|end| start < end) {
            let source = SpanSource::Concluded;
            found.push(FoundSpan::new(name.clone(), SpanKind::Step, start, source));
        }
    }
    Some((name, evidence))
}

/// Only the agent sets a report's error; if it starts with a code name, no script ran.
fn is_agents_own(data: &NodeData) -> bool {
    data.report.as_ref().is_some_and(|report| report.status.error.starts_with("ERR_"))
}
