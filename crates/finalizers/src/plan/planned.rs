//! The pieces of a plan.

use serde::Serialize;

use crate::observation::Object;
use crate::step::Step;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedStep {
    /// Its place, from 1.
    pub number: usize,
    pub name: Step,
    pub what: &'static str,
    /// What it is done to, as far as it is known now.
    pub targets: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedObject {
    #[serde(flatten)]
    pub object: Object,
    /// Finalizers that would be removed once it is being deleted.
    pub strip: Vec<String>,
    /// Finalizers that stay, and with them the object.
    pub keep: Vec<String>,
}
