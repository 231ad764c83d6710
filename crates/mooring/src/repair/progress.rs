//! Progress of a repair.

use jiff::{SignedDuration, Timestamp};
use mooring_repair::plan::Step;
use mooring_repair::workflow::{Decision, Run};
use mooring_workflow::Effect as _;

use crate::runs::Progress;

pub(crate) fn show_progress(
    progress: &mut Progress,
    state: &Run,
    action: &Decision,
    now: Timestamp,
) {
    let Some(what) = what(action) else { return };
    let age = clock(now.duration_since(state.step_since()));
    let expected = state.step().map_or(0, Step::expected_seconds);
    let expected = clock(SignedDuration::from_secs(expected.into()));
    let timed = format!(" {age} of about {expected}");
    progress.show(&state.position(), &timed, &what, matches!(action, Decision::Wait { .. }));
}

fn what(action: &Decision) -> Option<String> {
    match action {
        Decision::Apply(effect) => Some(effect.key()),
        Decision::Wait { why, .. } => Some(format!("waiting {why}")),
        Decision::Done(proof) => Some(format!("done: {}", proof.join("; "))),
        Decision::Stop(stop) => Some(format!("stopping: {}", stop.message)),
        Decision::Record(_) | Decision::Refresh | Decision::Finish(..) => None,
    }
}

fn clock(age: SignedDuration) -> String {
    let seconds = age.as_secs().max(0);
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
