//! Scenarios: initial states of a simulation, as data.

mod build;
mod document;

pub use document::{Bootstrap, ClusterUpdate, Pool, Scenario, ScenarioError, Vms, Wedge};
