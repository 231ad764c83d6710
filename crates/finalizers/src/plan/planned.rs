//! The pieces of a plan.

use serde::Serialize;

use crate::observation::Object;
use crate::step::Step;

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedStep {
    /// Its place, from 1.
    pub number: usize,
    /// Its name.
    pub name: Step,
    /// What it does.
    pub what: &'static str,
    /// What it is done to, as far as it is known now.
    pub targets: Vec<String>,
}

/// One custom resource.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedObject {
    /// The object.
    #[serde(flatten)]
    pub object: Object,
    /// Finalizers that would be removed once it is being deleted.
    pub strip: Vec<String>,
    /// Finalizers that stay, and with them the object.
    pub keep: Vec<String>,
}
