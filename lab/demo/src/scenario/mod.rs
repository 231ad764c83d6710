//! Scenarios of the demo: cluster, images, stages and expected results. Data only.

mod check;
mod definition;
pub(crate) mod image;
mod lookup;
mod steps;

pub use definition::{Failing, ImageDefinition, NodeStarter, Scenario, ScenarioStage};
pub use lookup::ScenarioError;
pub use steps::{
    ApplyStep, BootStep, DeleteStep, DescribeStep, DetectStep, FaultStep, FleetStep, NodeEnd,
    ResumeStep, StepSpec, WedgeStep, WhyStep,
};
