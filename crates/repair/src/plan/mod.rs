//! The plan of a repair: steps, bodies and checks.

mod build;
mod render;

pub use build::{Plan, PlanError, PlannedStep, build, pool_hash};
pub use render::{markdown, mermaid};

pub use crate::workflow::{HashedPlan, PlanDocument, Step};
