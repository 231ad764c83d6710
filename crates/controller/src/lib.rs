//! What happens on a NodeClaim when its node does not come up, decided without I/O.
//!
//! ```text
//! claim ─┬─▶ schedule ──▶ read ──▶ observation ──▶ verdict ─┬─▶ patch   (the condition)
//!        └────────────────────────────────────────────────── ├─▶ event   (survives the claim)
//!                                                            ├─▶ record  (survives the events)
//!                                                            └─▶ fleet, metrics, log
//! ```
//!
//! | question | module |
//! |---|---|
//! | what is kept of a NodeClaim, in under 1 KiB? | [`claim`], [`vm_id`], [`intern`] |
//! | what may be read in Azure? | [`scope`] |
//! | what did one read of Azure show? | [`observation`], [`mode`], [`karpenter`] |
//! | what is to be said of it? | [`verdict`], [`registration`], [`condition`], [`failure`], [`wording`], [`text`] |
//! | when is the next read? | [`schedule`], [`share`] |
//! | what is written, and what if it was written before? | [`patch`], [`event`], [`record`] |
//! | which image fails? | [`image`], [`fleet`] |
//! | what is measured and logged? | [`metrics`], [`log`] |
//! | who may write? | [`lease`] |
//! | all of it together, as data in and data out | [`state`] |
//! | who watches, reads and writes | [`run`] |
//! | the same once, for a person | [`once`] |
//!
//! Nothing but [`run`] and [`once`] reads a clock or opens a socket; [`state::State`] takes inputs and gives back
//! actions, and whoever runs it may be killed between any two of them.

pub mod advice;
pub mod claim;
pub mod condition;
pub mod event;
pub mod failure;
pub mod fleet;
pub mod hash;
pub mod image;
pub mod intern;
pub mod karpenter;
pub mod lease;
mod legacy;
pub mod log;
pub mod metrics;
pub mod mode;
pub mod node;
pub mod observation;
pub mod once;
pub mod patch;
pub mod record;
pub mod registration;
pub mod run;
pub mod schedule;
pub mod scope;
pub mod settings;
pub mod share;
pub mod state;
pub mod text;
pub mod verdict;
pub mod vm_id;
pub mod wording;

pub use claim::Claim;
pub use condition::{Reason, Status};
pub use legacy::NAMESPACE as LEGACY_NAMESPACE;
pub use observation::Observation;
pub use scope::Scope;
pub use settings::Settings;
pub use state::{Action, Input, State};
pub use verdict::Verdict;
