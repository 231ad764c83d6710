//! Custom resources: schemas, defaults, validation.

mod default;
pub(crate) mod definition;
mod object;
mod prune;
mod validate;

pub(crate) use definition::check_definition;
pub(crate) use object::{check, prune};
