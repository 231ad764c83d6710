//! Scenarios of the demo: cluster, images, stages and expected results. Data only.

mod built_in;
mod check;
mod definition;
pub(crate) mod image;
mod lookup;
mod steps;

pub use definition::{Failing, Image, Scenario, Stage};
pub use lookup::ScenarioError;
pub use steps::{
    Apply, Boot, Delete, Describe, Detect, Fault, Fleet, NodeFilter, Plan, Resume, StepSpec, Wedge,
    Why,
};
