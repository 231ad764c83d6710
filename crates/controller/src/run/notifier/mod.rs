//! Sends notifications of alerts, only as leader, in its own task: nothing waits for it.

mod delivery;
mod task;
mod term;

pub(super) use task::Notifier;
pub(super) use term::OpenAlerts;
