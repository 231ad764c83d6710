//! What would be done, as data, with a hash over what matters.

mod build;
mod dependents;
mod planned;
mod render;
mod targets;

pub use build::{Plan, build};
pub use dependents::{Dependent, Dependents};
pub(crate) use dependents::{api_service_note, webhook_note};
pub use planned::{PlannedObject, PlannedStep};
pub use render::{mermaid, table};
