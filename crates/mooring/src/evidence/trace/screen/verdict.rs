//! The first line: how the node's life ended, or where it is.

use jiff::Timestamp;
use mooring_terminal::Mark;
use mooring_trace::life::{self, LifeState, NodeLife};
use mooring_trace::{SpanKind, Timeline};

use super::axis::short;
use super::rows::step_name;

pub(super) fn verdict(
    timeline: &Timeline,
    life: &NodeLife,
    now: Option<Timestamp>,
) -> (Mark, String) {
    let name = life.node_claim.as_deref().unwrap_or(&timeline.node);
    let stages = || timeline.spans.iter().filter(|span| span.kind == SpanKind::Stage);
    let begin = stages().map(|span| span.start).min();
    let until = |end: Option<Timestamp>| {
        let seconds = end.zip(begin).map(|(end, begin)| end.duration_since(begin).as_secs_f64());
        seconds.map(|seconds| short(seconds.max(0.0)))
    };
    let end = until(stages().map(|span| span.end).max());
    match life.state {
        LifeState::Failed => {
            let after = end.map_or_else(String::new, |end| format!(" after {end}"));
            let running = timeline.running.as_ref().map(|running| step_name(&running.name));
            let why = match (running, &life.cause) {
                (Some(step), _) => format!(", while {step} was running"),
                (None, Some(cause)) => format!(": {cause}"),
                (None, None) => String::new(),
            };
            (Mark::Bad, format!("{name} failed{after}{why}."))
        }
        LifeState::Joined => {
            let took = end.map_or_else(String::new, |end| format!(" in {end}"));
            (Mark::Good, format!("{name} joined{took}."))
        }
        LifeState::NotReady => {
            let joined = stages().find(|span| span.name == life::READY).map(|span| span.start);
            let after = until(joined).map_or_else(String::new, |end| format!(" after {end}"));
            (Mark::Warning, format!("{name} registered{after}, and is not ready."))
        }
        LifeState::Joining => {
            let since = until(now).map_or_else(String::new, |end| format!(" for {end}"));
            (Mark::Warning, format!("{name} is joining{since}; no failure is known."))
        }
    }
}
