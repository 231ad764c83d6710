//! Custom resources: schemas, defaults, validation.

mod default;
pub(crate) mod definition;
mod prune;
mod validate;

pub(crate) use definition::check_definition;
pub(crate) use prune::prune;
pub(crate) use validate::check;
