//! A repair as data: steps, bodies and checks.

mod build;
mod document;
mod render;
mod step;

pub use build::{Plan, PlanError, PlannedStep, build, pool_hash};
pub use document::{Document, SCHEMA as DOCUMENT_SCHEMA};
pub use render::{markdown, mermaid};
pub use step::Step;
