//! Removes the resources of an uninstalled operator: custom resources whose finalizers no controller processes, their CRDs,
//! and the Helm release. Journaled, so that a kill at any instant loses nothing.
//!
//! | module | idea |
//! |---|---|
//! | [`profile`] | the operator, and options; always from the command line |
//! | [`objects`], [`helm`], [`signs`] | objects of the cluster as values, and signs of a running operator |
//! | `cluster` | each read, made once; failed reads are *unknown*, never *none* |
//! | [`contents`], `dependents` | whose the objects of the namespace are; what is garbage-collected |
//! | [`checks`] | all checks |
//! | [`plan`] | targets, steps and dependents, with a hash; what a run may do |
//! | [`workflow`], [`step`], [`effect`], [`backup`] | the removal as a workflow, changes as data, and copies in its journal |
//! | `steps` | one decision from the run, the reads and the time |
//! | [`commands`], `start` | plan, apply, resume and status; conditions to start a run |
//! | [`documents`], [`screens`] | JSON documents and screens |

pub mod backup;
pub mod checks;
mod cluster;
pub mod commands;
pub mod contents;
mod dependents;
pub mod documents;
pub mod effect;
pub mod helm;
pub mod objects;
pub mod plan;
pub mod profile;
pub mod screens;
pub mod signs;
mod start;
pub mod step;
mod steps;
pub mod workflow;
