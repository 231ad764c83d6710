//! Diagnosis of NodeClaims whose nodes do not join, decided without I/O.
//!
//! ```text
//! claim ─┬─▶ schedule ──▶ read ──▶ observation ──▶ verdict ─┬─▶ patch   (the condition)
//!        └────────────────────────────────────────────────── ├─▶ event   (outlives the NodeClaim)
//!                                                            ├─▶ record  (outlives the events)
//!                                                            └─▶ failing images, metrics, log
//! ```
//!
//! | topic | module |
//! |---|---|
//! | NodeClaims, failures, the record and the counts | [`mooring_nodes`] |
//! | results of reading Azure | [`observation`], [`observation::karpenter`] |
//! | verdicts on them | [`verdict`] |
//! | time of the next read | [`schedule`], [`schedule::controller_limits`] |
//! | writes, idempotent | [`verdict::patch`], [`verdict::event`] |
//! | metrics and logs | [`metrics`], [`metrics::log`] |
//! | leader election | `run/leader` over `mooring_k8s::lease` |
//! | inputs and actions | [`state`] |
//! | watches, reads and writes | [`run`] |
//! | one-time queries | [`query`] |
//!
//! Only [`run`] and [`query`] read a clock or open a socket; [`state::State`] takes inputs and returns
//! actions, and its caller may be killed between any two of them.

pub mod metrics;
pub mod observation;
pub mod query;
pub mod run;
pub mod schedule;
pub mod settings;
pub mod state;
pub mod verdict;

pub use observation::Observation;
pub use settings::Settings;
pub use state::{Action, Input, State};
