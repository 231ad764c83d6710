//! A repair as data: what will be done, in which order, with which bodies, and what was checked before.

mod build;
mod document;
mod needs;
mod prechecks;
mod render;
mod rights;
mod step;
mod tolerations;

pub use build::{Plan, PlanError, PlannedStep, build, pool_hash};
pub use document::{Document, SCHEMA as DOCUMENT_SCHEMA};
pub use needs::{Actor, Need, needs, place, places_of_locks};
pub use prechecks::{Precheck, Surroundings, subnets};
pub use render::{markdown, mermaid, table};
pub use rights::Rights;
pub use step::Step;
