//! Removes the resources of an uninstalled operator: custom resources whose finalizers no controller processes, their CRDs,
//! and the Helm release. Journaled, so that a kill at any instant loses nothing.
//!
//! | module | idea |
//! |---|---|
//! | [`profile`], [`settings`] | the operator, and options; always from the command line |
//! | [`target`], [`observation`], [`helm`], [`view`] | cluster state; failed reads are *unknown*, never *none* |
//! | [`evidence`], `managed` | signs of a running operator |
//! | [`checks`] | all checks |
//! | [`plan`] | steps and garbage-collected dependents, with a hash |
//! | [`workflow`], [`effect`], [`backup`], [`step`] | the removal as a workflow, changes as data, and its journal |
//! | [`terms`] | settings and approved plan of a run |
//! | `steps` | one decision from the run, the reads and the time |
//! | [`runtime`] | the Kubernetes API, and the commands |
//! | [`report`] | the report of a run as data |
//! | [`documents`], [`screens`] | JSON documents and screens |

pub mod backup;
pub mod checks;
pub mod documents;
pub mod effect;
pub mod evidence;
pub mod helm;
mod managed;
pub mod observation;
pub mod plan;
pub mod profile;
pub mod report;
pub mod runtime;
pub mod screens;
pub mod settings;
mod status;
pub mod step;
mod steps;
pub mod target;
pub mod terms;
mod unreadable;
pub mod view;
pub mod workflow;
