//! Runs an approved plan step by step from a journal, so that a kill at any point loses nothing.
//!
//! | module | idea |
//! |---|---|
//! | [`types`], [`workflow`], [`decision`] | what a workflow consists of: steps, effects, facts, what to read and what to do next |
//! | [`reading`], [`check`], [`effect`] | what was read, what must hold, what is changed |
//! | [`approval`], [`canonical`] | the hash of a plan, and what approves it |
//! | [`journal`] | records, their chain of hashes, and the run that they describe |
//! | [`retry`], [`engine`] | when an effect is tried again, and the loop between decisions and the world |
//! | [`world`], [`live`] | everything outside the process, as a trait and as it is |
//! | [`store`], [`lock`], [`command`] | where a journal is kept, who holds it, and what commands share |
//! | [`report`] | the history of a run, for reports |
//! | [`responses`] | what responses of a Kubernetes API mean for a run |
//!
//! Azure, node pools and finalizers are not known here.

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
pub mod reading;
pub mod report;
pub mod responses;
pub mod retry;
pub mod secret_fields;
pub mod session;
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
