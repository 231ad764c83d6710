//! Progress of a change.

use jiff::Timestamp;
use mooring_finalizers::step::Step;
use mooring_finalizers::workflow::{Decision, Fact, Run};
use mooring_workflow::Step as _;

use crate::workflows::runs::{ProgressEvent, ProgressLine, ProgressOutput};

pub(super) fn show_progress(
    progress: &mut ProgressOutput,
    state: &Run,
    action: &Decision,
    now: Timestamp,
) {
    progress.start(&state.id);
    let (event, text) = match action {
        Decision::Apply(effect) => {
            (ProgressEvent::Change, format!("{} {}", effect.verb(), effect.target()))
        }
        Decision::Wait { why, .. } => (ProgressEvent::Wait, format!("waiting {why}")),
        Decision::Stop(stop) => (ProgressEvent::Stop, format!("stopping: {}", stop.message)),
        Decision::Done(evidence) => (ProgressEvent::Done, evidence.join("; ")),
        Decision::Record(fact) => {
            let Fact::Spared { key, why } = &**fact;
            (ProgressEvent::Change, format!("{key} was skipped: {why}"))
        }
        Decision::Refresh | Decision::Finish(..) => return,
    };
    let step = state.step();
    progress.show(&ProgressLine {
        position: step
            .map_or_else(String::new, |step| format!("{}/{}", step.number(), Step::ALL.len())),
        step: step.map_or("end", |step| step.name()),
        event,
        seconds: now.duration_since(state.step_since()).as_secs(),
        expected_seconds: None,
        text: &text,
    });
}
