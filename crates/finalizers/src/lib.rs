//! Removes what a retired operator left behind: custom resources whose finalizers no controller processes any more, their
//! definitions, and what installed it. Journaled, so that a kill at any instant loses nothing.
//!
//! | module | idea |
//! |---|---|
//! | [`profile`], [`settings`] | which operator, and how; always from the command line |
//! | [`target`], [`observation`], [`helm`], [`view`] | what was read; what could not be read is *unknown*, never *none* |
//! | [`evidence`], `managed` | signs that the operator runs, wherever it does |
//! | [`checks`] | every check: when it is evaluated, and what overrides it |
//! | [`plan`] | steps and what goes along, with a hash over what matters |
//! | [`workflow`], [`effect`], [`backup`], [`step`] | the removal as a workflow, changes as data, and its journal |
//! | [`terms`] | what a run may do: settings and an approved plan |
//! | `steps` | run, what was read and the time in; exactly one decision out |
//! | [`shell`] | the cluster's API, and what an operator asks for |
//! | [`report`] | what was done and what is left, for people and programs |

pub mod backup;
pub mod checks;
pub mod effect;
pub mod evidence;
pub mod helm;
mod managed;
pub mod observation;
pub mod plan;
pub mod profile;
pub mod report;
pub mod settings;
pub mod shell;
pub mod step;
mod steps;
pub mod target;
pub mod terms;
mod unreadable;
pub mod view;
pub mod workflow;
