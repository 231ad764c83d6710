//! Scenarios: what a simulation begins with, as data.

mod build;
mod document;

pub use document::{Bootstrap, ClusterUpdate, Pool, Scenario, ScenarioError, Vms, Wedge};
