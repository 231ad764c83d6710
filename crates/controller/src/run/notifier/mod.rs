//! Sends notifications of alerts, only as leader, in its own task: nothing waits for it.

mod delivery;
mod task;

pub(super) use task::{Notifier, OpenAlerts};
