//! Scenarios: initial states of a simulation, as data.

mod build;
mod document;

pub use document::{
    Bootstrap, ClusterUpdate, PoolSettings, Scenario, ScenarioError, Vms, WedgeSettings,
};
