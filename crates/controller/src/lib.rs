//! Diagnosis of NodeClaims whose nodes do not join, decided without I/O.
//!
//! ```text
//! claim ─┬─▶ schedule ──▶ read ──▶ observation ──▶ verdict ─┬─▶ patch   (the condition)
//!        └────────────────────────────────────────────────── ├─▶ event   (outlives the NodeClaim)
//!                                                            ├─▶ record  (outlives the events)
//!                                                            └─▶ failing, metrics, log
//! ```
//!
//! | topic | module |
//! |---|---|
//! | the kept part of a NodeClaim, under 1 KiB | [`claim`], [`claim::vm_id`], [`claim::intern`] |
//! | permitted reads of Azure | [`claim::scope`] |
//! | results of reading Azure | [`observation`], [`claim::mode`], [`observation::karpenter`] |
//! | verdicts and their messages | [`verdict`], [`verdict::registration`], [`verdict::condition`], [`verdict::failure`], [`verdict::messages`] |
//! | printable, redacted texts | [`text`] |
//! | time of the next read | [`schedule`], [`schedule::rate_limit`] |
//! | writes, idempotent | [`verdict::patch`], [`verdict::event`], [`record`] |
//! | joined and failed nodes by half hour | [`record::counts`] |
//! | failing images and pools | [`failing`], [`claim::image`] |
//! | metrics and logs | [`metrics`], [`metrics::log`] |
//! | leader election | `run/leader` over `mooring_kube::lease` |
//! | inputs and actions | [`state`] |
//! | watches, reads and writes | [`run`] |
//! | one-time queries | [`query`] |
//!
//! Only [`run`] and [`query`] read a clock or open a socket; [`state::State`] takes inputs and returns
//! actions, and its caller may be killed between any two of them.

pub mod claim;
pub mod failing;
pub mod hash;
pub mod metrics;
pub mod observation;
pub mod query;
pub mod record;
pub mod run;
pub mod schedule;
pub mod settings;
pub mod state;
pub mod text;
pub mod verdict;

pub use claim::Claim;
pub use claim::scope::Scope;
pub use observation::Observation;
pub use settings::Settings;
pub use state::{Action, Input, State};
pub use verdict::Verdict;
pub use verdict::condition::{ConditionReason, ConditionStatus};
