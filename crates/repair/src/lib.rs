//! Detects wedged node pools, and rebuilds them from a journal that survives a kill at any instant.
//!
//! | module | idea |
//! |---|---|
//! | [`observation`] | typed state of Azure and Kubernetes; failed reads are *unknown* |
//! | [`signatures`] | errors and checks that define a wedge, as data |
//! | [`checks`] | all checks in one table |
//! | [`operation`], [`verdict`] | the running operation; the verdict of `detect` |
//! | [`temporary_pool`] | an existing temporary pool, and its run |
//! | [`plan`] | steps as data, with a hash over what matters |
//! | [`workflow`], [`effects`] | the repair as a workflow, its journal, and changes as data |
//! | `steps` | one decision from the run, the reads and the time |
//! | [`start_checks`], [`resume`] | conditions to start a run, and the authority to continue one |
//! | [`history`] | earlier runs, and the limit of recreations |
//! | [`runtime`] | Azure, Kubernetes, and the commands |
//! | [`report`] | reports as data |
//! | [`documents`], [`screens`] | JSON documents and screens of reports, plans and runs |
//!
//! Decisions are pure functions; only [`runtime`] does I/O. The engine, the journal and its stores are in
//! `mooring-workflow`.

pub mod checks;
pub mod documents;
pub mod effects;
pub mod errors;
pub mod history;
pub mod names;
pub mod observation;
pub mod operation;
pub mod plan;
pub mod pool_body;
pub mod report;
pub mod resume;
pub mod runtime;
pub mod screens;
pub mod settings;
pub mod signatures;
pub mod start_checks;
mod steps;
pub mod temporary_pool;
pub mod verdict;
pub mod workflow;
