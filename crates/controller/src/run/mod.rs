//! The runtime of [`State`](crate::state::State): watches, reads and writes, without decisions.
//!
//! ```text
//! watch  ──▶┐                        ┌──▶ read   (Azure, concurrent)
//! leader ──▶├─▶ inputs ─▶ State ─▶ actions
//! read   ──▶│                        └──▶ write  (API server, in order, only by the leader)
//! write  ──▶┘
//! ```
//!
//! Every failure becomes an input or a counted and logged error; only `stop` ends the loop. Time comes from a
//! [`Clock`] and passes with tokio's, so that tests can pause it.

mod api;
mod controller;
mod event_loop;
mod health;
mod leader;
mod read;
mod server;
mod watch;
mod write;

pub use api::{Api, ApiError};
pub use controller::{Controller, StateView, ViewRequest};
pub use health::Health;
pub use mooring_k8s::Clock;
pub use read::{Inspector, observe, read_list};
pub use server::Pages;
