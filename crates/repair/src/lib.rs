//! Detects wedged node pools, and rebuilds them so that a kill at any instant loses nothing.
//!
//! | module | idea |
//! |---|---|
//! | [`observation`] | typed state of Azure and Kubernetes; failed reads are *unknown* |
//! | [`signatures`] | errors and checks that define a wedge, as data |
//! | [`checks`], [`verdict`] | all checks in one table; the verdict of `detect` |
//! | [`operation`], [`names`] | the running operation; names of objects, tags and checks |
//! | [`pool_body`], [`temporary_pool`] | bodies of pools; an existing temporary pool, and its run |
//! | [`workflow`], [`effects`] | the repair as a workflow, its steps, facts and approved plan, and changes as data |
//! | [`plan`] | plans of pools, with a hash over what matters |
//! | `steps` | one decision from the run, the reads and the time |
//! | `start`: [`start_checks`], [`resume`] | conditions to start a run, with the limit of recreations, and the authority to continue one |
//! | [`runtime`] | Azure, Kubernetes, and the commands |
//! | `present`: [`report`], [`documents`], [`screens`] | reports as data; JSON documents and screens of reports, plans and runs |
//!
//! Decisions are pure functions; only [`runtime`] does I/O. The engine, the journal and its stores are in
//! `mooring-workflow`.

#[cfg(test)]
extern crate self as mooring_repair;

pub mod checks;
#[cfg(test)]
#[path = "../tests/it/common/mod.rs"]
mod common;
pub mod names;
pub mod observation;
pub mod operation;
pub mod plan;
pub mod pool_body;
mod present;
pub mod runtime;
pub mod settings;
pub mod signatures;
mod start;
mod steps;
pub mod temporary_pool;
pub mod workflow;

pub use checks::verdict;
pub use present::{documents, report, screens};
pub use start::{resume, start_checks};
pub use workflow::effects;
