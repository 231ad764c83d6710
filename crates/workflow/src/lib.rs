//! Runs an approved plan step by step from a stored document, so that a kill at any point loses nothing.
//!
//! | module | idea |
//! |---|---|
//! | `model`: [`effect`], [`check`], [`reading`] | results of changes, conditions, results of reads; `report`: what is said of a run |
//! | [`approval`], [`canonical`] | the hash and the approval of a plan |
//! | [`journal`] | what a workflow is, the document of a run, and the changes that it takes |
//! | [`engine`], [`retry`] | the loop between decisions and effects; retries of effects |
//! | [`store`], [`lock`] | the place of a journal, and its lock |
//! | [`live`], [`command`] | the process of a run, and the common parts of commands |
//! | `present`: [`status`], [`published`], [`screens`] | the state of a run, its JSON documents and its screens |
//! | [`responses`] | responses of a Kubernetes API |
//!
//! Independent of Azure, node pools and finalizers.

pub mod approval;
pub mod canonical;
pub mod command;
pub mod engine;
pub mod journal;
pub mod live;
mod model;
mod present;
pub mod responses;
pub mod retry;
pub mod store;

pub use model::{check, effect, reading};
pub use present::{flowchart, plural, published, screens, status};
pub use store::lock;

pub use engine::{Cluster, Decision, Host, NotRead, RunOutcome, Stop, WaitLimits, run};
pub use journal::{
    Attempt, CompletedStep, Entry, Note, PastRun, Phase, Run, Runs, Workflow, number,
};
pub use model::Clock;
pub use model::check::{CheckResult, Outcome};
pub use model::effect::{Authority, Backup, EffectResult, Refusal};
pub use model::reading::Reading;
pub use model::report::{Finish, Reason, StepInfo};
