//! What a person sees while a run goes on: one line that changes on a terminal, one line per change elsewhere.

use std::io::{IsTerminal as _, Write as _};

use jiff::{SignedDuration, Timestamp};
use mooring_repair::journal::Entry;
use mooring_repair::machine::{Action, Phase, State};
use mooring_repair::plan::Step;

pub(crate) struct Progress {
    terminal: bool,
    last: String,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), last: String::new() }
    }

    /// Tells what comes next.
    pub(crate) fn tell(&mut self, state: &State, action: &Action, now: Timestamp) {
        let Some(what) = what(action) else { return };
        let age = clock(now.duration_since(state.step_since()));
        let expected = state.step().map_or(0, Step::expected_seconds);
        let expected = clock(SignedDuration::from_secs(expected.into()));
        let timed = format!(" {age} of about {expected}");
        self.show(&place(state), &timed, &what, matches!(action, Action::Wait { .. }));
    }

    /// Shows what is done at which step; on a terminal with its time, and over the line before if that was a wait.
    pub(crate) fn show(&mut self, step: &str, timed: &str, what: &str, waits: bool) {
        let change = format!("{step}: {what}");
        if self.terminal {
            let line: String = format!("{step}{timed}: {what}").chars().take(160).collect();
            write(&format!("\r\x1b[K{line}"));
            if !waits {
                write("\n");
            }
        } else if change != self.last {
            write(&format!("{change}\n"));
        }
        self.last = change;
    }

    /// Ends the line that changes.
    pub(crate) fn end(&self) {
        if self.terminal && !self.last.is_empty() {
            write("\n");
        }
    }
}

/// `step 4/16 create-temporary`.
fn place(state: &State) -> String {
    if state.phase == Phase::Aborting {
        return "undo".to_owned();
    }
    let Some(step) = state.step() else { return "end".to_owned() };
    let number = Step::ALL.iter().position(|known| *known == step).map_or(0, |at| at + 1);
    format!("step {number}/{} {}", Step::ALL.len(), step.name())
}

fn what(action: &Action) -> Option<String> {
    match action {
        Action::Effect { effect, .. } => Some(effect.key()),
        Action::Wait { why, .. } => Some(format!("waiting {why}")),
        Action::Record(entry) => match &**entry {
            Entry::StepDone { proof, .. } => Some(format!("done: {}", proof.join("; "))),
            Entry::Snapshot { .. } => Some("the pool is written into the journal".to_owned()),
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

/// To standard error. Nobody who reads it is no reason to stop a repair.
pub(crate) fn write(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
