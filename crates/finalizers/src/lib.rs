//! Removes the resources of an uninstalled operator: custom resources whose finalizers no controller processes, their CRDs,
//! and the Helm release. Journaled, so that a kill at any instant loses nothing.
//!
//! | module | idea |
//! |---|---|
//! | `operator`: [`profile`], [`settings`], [`target`] | the operator, and options; always from the command line |
//! | `cluster`: [`observation`], [`contents`], [`helm`], [`view`] | cluster state; failed reads are *unknown*, never *none* |
//! | `cluster`: [`evidence`], `managed` | signs of a running operator |
//! | [`checks`] | all checks |
//! | [`plan`], [`terms`] | steps and garbage-collected dependents, with a hash; settings and approved plan of a run |
//! | `removal`: [`workflow`], [`effect`], [`backup`], [`step`] | the removal as a workflow, changes as data, and its journal |
//! | `steps` | one decision from the run, the reads and the time |
//! | `runtime` | the Kubernetes API |
//! | [`commands`] | plan, apply, resume and status |
//! | `present`: [`status`], [`documents`], [`screens`] | the state of a run as data; JSON documents and screens |

pub mod checks;
mod cluster;
pub mod commands;
mod operator;
pub mod plan;
mod present;
mod removal;
mod runtime;
mod steps;

pub use cluster::{contents, evidence, helm, observation, view};
pub use operator::{profile, settings, target};
pub use plan::terms;
pub use present::{documents, screens, status};
pub use removal::{backup, effect, step, workflow};
