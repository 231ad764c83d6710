//! Progress of a repair.

use jiff::{SignedDuration, Timestamp};
use mooring_repair::plan::Step;
use mooring_repair::workflow::{Decision, Run};
use mooring_workflow::Phase;
use mooring_workflow::{Effect as _, Step as _};

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
    progress.show(&place(state), &timed, &what, matches!(action, Decision::Wait { .. }));
}

/// `step 4/16 create-temporary`.
pub(crate) fn place(state: &Run) -> String {
    if state.phase == Phase::Aborting {
        return "rollback".to_owned();
    }
    let Some(step) = state.step() else { return "end".to_owned() };
    format!("step {}/{} {}", step.number(), Step::ALL.len(), step.name())
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
