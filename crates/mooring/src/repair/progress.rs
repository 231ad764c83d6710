//! Progress of a repair.

use jiff::Timestamp;
use mooring_repair::plan::Step;
use mooring_repair::workflow::{Decision, Run};
use mooring_workflow::{Effect as _, Phase, Step as _};

use crate::runs::{Event, Progress, ProgressLine};

pub(crate) fn show_progress(
    progress: &mut Progress,
    state: &Run,
    action: &Decision,
    now: Timestamp,
) {
    let (event, text) = match action {
        Decision::Apply(effect) => (Event::Change, effect.key()),
        Decision::Wait { why, .. } => (Event::Wait, format!("waiting {why}")),
        Decision::Done(proof) => (Event::Done, proof.join("; ")),
        Decision::Stop(stop) => (Event::Stop, format!("stopping: {}", stop.message)),
        Decision::Record(_) | Decision::Refresh | Decision::Finish(..) => return,
    };
    let step = state.step().filter(|_| state.phase != Phase::Aborting);
    progress.show(&ProgressLine {
        position: step
            .map_or_else(String::new, |step| format!("{}/{}", step.number(), Step::ALL.len())),
        step: step.map_or("rollback", |step| step.name()),
        event,
        seconds: now.duration_since(state.step_since()).as_secs(),
        expected_seconds: step.map(Step::expected_seconds),
        text: &text,
    });
}
