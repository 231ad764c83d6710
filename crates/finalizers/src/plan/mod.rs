//! What would be done, as data, with a hash over what matters.

mod around;
mod build;
mod planned;
mod render;
mod targets;

pub use around::{Around, Dependent};
pub(crate) use around::{api_service_note, webhook_note};
pub use build::{Plan, build};
pub use planned::{PlannedObject, PlannedStep};
pub use render::{mermaid, table};
