//! Removes what a retired operator left behind: custom resources whose finalizers nobody processes any more, their
//! definitions, and what installed it. Journaled like a pool's repair, so that a kill at any instant loses nothing.
//!
//! | module | idea |
//! |---|---|
//! | [`profile`], [`settings`] | which operator, and how; always from the command line |
//! | [`target`], [`observation`], [`helm`], [`seen`] | what was read; what could not be read is *unknown*, never *none* |
//! | [`evidence`], `managed` | signs that the operator runs, wherever it does |
//! | [`plan`] | steps, guards and what goes along, with a hash over what matters |
//! | [`effect`], [`backup`], [`step`], [`entry`], [`state`] | changes as data, and the journal that they are in |
//! | [`terms`] | what a run may do: settings and an approved plan |
//! | [`machine`], [`run`] | state, what was seen and the time in; exactly one thing to do out |
//! | [`shell`] | the cluster's API, and what a person asks for |
//! | [`report`] | what was done and what is left, for people and programs |

pub mod backup;
pub mod effect;
pub mod entry;
pub mod evidence;
pub mod helm;
pub mod machine;
mod managed;
pub mod observation;
pub mod plan;
pub mod profile;
pub mod report;
pub mod run;
pub mod seen;
pub mod settings;
pub mod shell;
pub mod state;
pub mod step;
pub mod target;
pub mod terms;
