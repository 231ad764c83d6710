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
//! | what is kept of a NodeClaim, in under 1 KiB? | [`claim`], [`claim::vm_id`], [`claim::intern`] |
//! | what may be read in Azure? | [`claim::scope`] |
//! | what did one read of Azure show? | [`observation`], [`claim::mode`], [`observation::karpenter`] |
//! | what is to be said of it? | [`verdict`], [`verdict::registration`], [`verdict::condition`], [`verdict::failure`], [`verdict::wording`], [`verdict::text`] |
//! | when is the next read? | [`schedule`], [`schedule::share`] |
//! | what is written, and what if it was written before? | [`verdict::patch`], [`verdict::event`], [`record`] |
//! | which image fails? | [`claim::image`], [`fleet`] |
//! | what is measured and logged? | [`metrics`], [`metrics::log`] |
//! | who may write? | `run/lead` over `mooring_kube::lease` |
//! | all of it together, as data in and data out | [`state`] |
//! | who watches, reads and writes | [`run`] |
//! | the same once, for a person | [`once`] |
//!
//! Nothing but [`run`] and [`once`] reads a clock or opens a socket; [`state::State`] takes inputs and gives back
//! actions, and whoever runs it may be killed between any two of them.

pub mod claim;
pub mod fleet;
pub mod hash;
pub mod metrics;
pub mod observation;
pub mod once;
pub mod record;
pub mod run;
pub mod schedule;
pub mod settings;
pub mod state;
pub mod verdict;

pub use claim::Claim;
pub use claim::scope::Scope;
pub use observation::Observation;
pub use record::legacy::NAMESPACE as LEGACY_NAMESPACE;
pub use settings::Settings;
pub use state::{Action, Input, State};
pub use verdict::Verdict;
pub use verdict::condition::{Reason, Status};
