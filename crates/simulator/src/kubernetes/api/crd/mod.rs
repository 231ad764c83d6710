//! Custom resources: what a definition says, and what follows from it.

mod default;
pub(crate) mod definition;
mod prune;
mod validate;

use serde_json::Value;

use crate::kubernetes::api::state::{FieldError, Schema};

pub(crate) use definition::check_definition;

/// Drops what the schema does not have.
pub(crate) fn prune(schema: &Schema, value: &mut Value) {
    prune::apply(schema, value);
}

/// Brings an object into the form of its schema; what is wrong with it.
pub(crate) fn check(schema: &Schema, value: &mut Value) -> Vec<FieldError> {
    prune::apply(schema, value);
    default::apply(schema, value);
    validate::check(schema, value)
}
