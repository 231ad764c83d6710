//! Runs an approved plan step by step from a journal, so that a kill at any point loses nothing.
//!
//! | module | idea |
//! |---|---|
//! | [`types`], [`workflow`], [`decision`] | a workflow: its steps, effects, facts, queries and decisions |
//! | [`reading`], [`check`], [`effect`] | results of reads, conditions, changes |
//! | [`approval`], [`canonical`] | the hash and the approval of a plan |
//! | [`journal`] | records, their chain of hashes, and the run that they describe |
//! | [`retry`], [`engine`] | retries of effects, and the loop between decisions and the world |
//! | [`world`], [`live`] | everything outside the process: the trait and its implementation |
//! | [`store`], [`lock`], [`command`] | the place of a journal, its lock, and the common parts of commands |
//! | [`report`] | the history of a run, for reports |
//! | [`status`], [`published`], [`screens`] | the state of a run, its JSON documents and its screens |
//! | [`responses`] | responses of a Kubernetes API |
//!
//! Independent of Azure, node pools and finalizers.

pub mod approval;
pub mod canonical;
pub mod check;
pub mod command;
pub mod decision;
pub mod document;
pub mod effect;
pub mod engine;
mod error;
pub mod flowchart;
pub mod journal;
pub mod live;
pub mod lock;
pub mod plural;
pub mod process;
pub mod published;
pub mod reading;
pub mod report;
pub mod responses;
pub mod retry;
pub mod screens;
pub mod secret_fields;
pub mod session;
pub mod status;
pub mod store;
pub mod types;
pub mod workflow;
pub mod world;

pub use check::{CheckResult, Outcome};
pub use decision::{Decision, Halt, Stop, StopKind, Unknown};
pub use document::Document;
pub use effect::{Authority, Effect, EffectResult, Refusal};
pub use engine::{RunError, RunOutcome, run};
pub use journal::{Attempt, Entry, Phase, Record, Replay, Run};
pub use reading::Reading;
pub use session::Session;
pub use types::{Step, Types};
pub use workflow::{Context, Workflow};
