//! What would be done, as data, with a hash over what matters.

mod around;
mod build;
mod guards;
mod render;
mod targets;

pub use around::{Around, Dependent};
pub(crate) use around::{api_service_note, webhook_note};
pub use build::{Plan, PlannedObject, PlannedStep, build};
pub use render::{mermaid, table};
