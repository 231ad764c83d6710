//! Runs an approved plan step by step from a journal, so that a kill at any point loses nothing.
//!
//! | module | idea |
//! |---|---|
//! | `model`: [`types`], [`effect`], [`check`], [`reading`], [`decision`] | the parts of a workflow: steps, changes, conditions, results of reads, decisions |
//! | [`approval`], [`canonical`] | the hash and the approval of a plan |
//! | [`journal`] | records in their order, and the run that they describe |
//! | [`engine`]: [`workflow`], [`world`], [`retry`] | the loop between decisions and the world, both as traits; retries of effects |
//! | [`store`], [`lock`] | the place of a journal, and its lock |
//! | [`live`], [`command`] | the implementation of the world, and the common parts of commands |
//! | `present`: [`report`], [`status`], [`published`], [`screens`] | the history and state of a run, its JSON documents and its screens |
//! | [`responses`] | responses of a Kubernetes API |
//!
//! Independent of Azure, node pools and finalizers.

pub mod approval;
pub mod command;
pub mod engine;
pub mod journal;
pub mod live;
mod model;
mod present;
pub mod responses;
pub mod store;

pub use approval::canonical;
pub use engine::{retry, workflow, world};
pub use model::{check, decision, document, effect, reading, types};
pub use present::{flowchart, plural, published, report, screens, status};
pub use store::lock;
pub use store::lock::process;

pub use engine::workflow::{Context, Workflow};
pub use engine::{RunError, RunOutcome, run};
pub use journal::{Attempt, Entry, Phase, Record, Replay, Run};
pub use model::check::{CheckResult, Outcome};
pub use model::decision::{Decision, Halt, Stop, StopKind, Unknown};
pub use model::document::{Document, Session};
pub use model::effect::{Authority, Effect, EffectResult, Refusal};
pub use model::reading::Reading;
pub use model::types::{Step, Types};
