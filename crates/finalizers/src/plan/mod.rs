//! A removal as data, with a hash.

mod build;
mod dependents;
mod render;
mod targets;
pub mod terms;

pub use build::{Plan, build};
pub use dependents::{Dependent, Dependents};
pub(crate) use dependents::{api_service_note, webhook_note};
pub use render::mermaid;
pub use targets::{PlannedObject, PlannedStep};
