//! What comes next in a repair, for people.

use jiff::{SignedDuration, Timestamp};
use mooring_repair::journal::Entry;
use mooring_repair::machine::{Action, Phase, State};
use mooring_repair::plan::Step;

use crate::journaled::Progress;

/// Tells what comes next.
pub(crate) fn tell(progress: &mut Progress, state: &State, action: &Action, now: Timestamp) {
    let Some(what) = what(action) else { return };
    let age = clock(now.duration_since(state.step_since()));
    let expected = state.step().map_or(0, Step::expected_seconds);
    let expected = clock(SignedDuration::from_secs(expected.into()));
    let timed = format!(" {age} of about {expected}");
    progress.show(&place(state), &timed, &what, matches!(action, Action::Wait { .. }));
}

/// `step 4/16 create-temporary`.
pub(crate) fn place(state: &State) -> String {
    if state.phase == Phase::Aborting {
        return "undo".to_owned();
    }
    let Some(step) = state.step() else { return "end".to_owned() };
    format!("step {}/{} {}", step.number(), Step::ALL.len(), step.name())
}

fn what(action: &Action) -> Option<String> {
    match action {
        Action::Effect { effect, .. } => Some(effect.key()),
        Action::Wait { why, .. } => Some(format!("waiting {why}")),
        Action::Record(entry) => match &**entry {
            Entry::StepDone { proof, .. } => Some(format!("done: {}", proof.join("; "))),
            _ => None,
        },
        Action::Stop { message, .. } => Some(format!("stopping: {message}")),
        Action::Observe(_) | Action::Done(_) => None,
    }
}

fn clock(age: SignedDuration) -> String {
    let seconds = age.as_secs().max(0);
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
