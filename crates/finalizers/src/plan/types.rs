//! Types of a plan.

use serde::Serialize;

use crate::cluster::observation::LiveObject;
use crate::removal::step::Step;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedStep {
    pub number: usize,
    pub name: Step,
    pub what: &'static str,
    pub targets: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedObject {
    #[serde(flatten)]
    pub object: LiveObject,
    /// Finalizers to remove once it is being deleted.
    pub strip: Vec<String>,
    /// Finalizers that are kept, and with them the object.
    pub keep: Vec<String>,
}
