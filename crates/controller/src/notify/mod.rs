//! Notifications: alerts in, signed HTTP requests out. The runtime is `run/notifier`.
//!
//! An alert is open or over. [`ledger::Ledger`] is stored before anything is sent, and has each alert and the hooks
//! that still wait for it, so a restart or failover repeats nothing that was delivered. A leader that is killed
//! between a delivery and its note repeats it, with the same `id` and `state`. After 5 minutes of retries a notification
//! counts as undelivered and is not sent again.

pub mod alert;
pub mod chat;
pub mod hook;
pub mod ledger;
mod notifications;
pub mod payload;
pub mod run;
pub mod signature;
pub mod status;
#[cfg(test)]
mod tests;
pub mod transport;

pub use alert::{Alert, AlertEvent};
pub use hook::{Hook, HookError};
pub use notifications::Notifications;
pub use run::{RunNotification, RunState};
pub use status::{HookStatus, Statuses};
pub use transport::{HttpTransport, NotificationRequest, Transport};
