//! Custom resources: schemas, defaults, validation.

mod default;
pub(crate) mod definition;
mod prune;
mod validate;

use serde_json::Value;

use crate::kubernetes::api::state::{FieldError, Schema};

pub(crate) use definition::check_definition;

/// Drops unknown members.
pub(crate) fn prune(schema: &Schema, value: &mut Value) {
    prune::apply(schema, value);
}

/// Prunes and defaults an object, and returns its errors.
pub(crate) fn check(schema: &Schema, value: &mut Value) -> Vec<FieldError> {
    prune::apply(schema, value);
    default::apply(schema, value);
    validate::check(schema, value)
}
