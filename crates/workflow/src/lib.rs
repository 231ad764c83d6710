//! Runs an approved plan step by step from a stored document, so that a kill at any point loses nothing.
//!
//! | module | idea |
//! |---|---|
//! | `model`: [`types`], [`effect`], [`check`], [`reading`] | the parts of a workflow: steps, changes, conditions, results of reads |
//! | [`approval`], [`canonical`] | the hash and the approval of a plan |
//! | [`journal`] | the document of a run, and the changes that it takes |
//! | [`engine`]: [`workflow`], [`world`], [`decision`], [`retry`] | the loop between decisions and the world, both as traits; retries of effects |
//! | [`store`], [`lock`] | the place of a journal, and its lock |
//! | [`live`], [`command`] | the implementation of the world, and the common parts of commands |
//! | `present`: [`status`], [`published`], [`screens`] | the state of a run, its JSON documents and its screens |
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
pub use engine::{decision, retry, workflow, world};
pub use model::{check, document, effect, reading, types};
pub use present::{flowchart, plural, published, screens, status};
pub use store::lock;
pub use store::lock::process;

pub use engine::decision::{Decision, Halt, Stop, StopKind, Unknown};
pub use engine::workflow::{Context, Workflow};
pub use engine::{RunError, RunOutcome, run};
pub use journal::{Attempt, CompletedStep, Entry, PastRun, Phase, Record, Run, Runs, Types};
pub use model::check::{CheckResult, Outcome};
pub use model::document::{Document, Session};
pub use model::effect::{Authority, Effect, EffectResult, Refusal};
pub use model::reading::Reading;
pub use model::types::Step;
