//! Proves that a node pool is wedged, plans its rebuilding, and carries the plan out from a journal so that
//! a kill at any instant loses nothing.
//!
//! | module | idea |
//! |---|---|
//! | [`observation`] | what was read at one instant; what could not be read is *unknown* |
//! | [`signatures`] | what a wedge is, as data |
//! | [`checks`] | every check in one table: when it is evaluated, what blocks, what can be overridden |
//! | [`operation`], [`verdict`] | which operation is running; the verdict that holds regardless of what is unknown |
//! | [`temporary_pool`] | a temporary pool that is there, and whose it is |
//! | [`plan`] | steps as data, with a hash over what matters |
//! | [`workflow`], [`effects`] | the repair as a workflow, its journal, and changes as data |
//! | `steps` | what was read and the time in; exactly one decision out |
//! | [`begin`], [`resume`] | whether a run may begin, and on what authority it is continued |
//! | [`history`] | earlier runs: what was done, and whether it was done too often |
//! | [`shell`] | Azure, Kubernetes, and what an operator asks for |
//! | [`report`] | what was done, for people and programs |
//!
//! Decisions are pure; only [`shell`] touches anything. The engine, the journal and its stores are in
//! `mooring-workflow`.

pub mod begin;
pub mod checks;
pub mod effects;
pub mod history;
pub mod names;
pub mod observation;
pub mod operation;
pub mod plan;
pub mod pool_body;
pub mod refusal;
pub mod report;
pub mod resume;
pub mod settings;
pub mod shell;
pub mod signatures;
mod steps;
pub mod temporary_pool;
pub mod verdict;
pub mod workflow;
