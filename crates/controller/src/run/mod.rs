//! The loop around [`State`]: what it watches, reads and writes, and nothing that it decides.
//!
//! ```text
//! watch ──▶┐                        ┌──▶ read   (Azure, many at a time)
//! lead  ──▶├─▶ inputs ─▶ State ─▶ actions
//! read  ──▶│                        └──▶ write  (API server, in order, only while leading)
//! write ──▶┘
//! ```
//!
//! Whatever fails here ends as an input or as a counted, logged failure; nothing ends the loop but being told to.
//! Time comes from a [`Clock`] and passes as tokio's does, so that a paused runtime turns it.

mod api;
mod controller;
mod event_loop;
mod health;
mod inspect;
mod lead;
mod read;
mod seen;
mod serve;
mod watch;
mod write;

pub use api::{Api, Refusal};
pub use controller::Controller;
pub use health::Health;
pub use inspect::Inspector;
pub use mooring_kube::Clock;
pub use read::{observe, swept};
pub use serve::{Pages, serve};
