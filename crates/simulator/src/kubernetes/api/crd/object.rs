//! Objects of custom resources.

use serde_json::Value;

use super::{default, validate};
use crate::kubernetes::api::state::{FieldError, Schema};

/// Drops unknown members.
pub(crate) fn prune(schema: &Schema, value: &mut Value) {
    super::prune::apply(schema, value);
}

/// Prunes and defaults an object, and returns its errors.
pub(crate) fn check(schema: &Schema, value: &mut Value) -> Vec<FieldError> {
    super::prune::apply(schema, value);
    default::apply(schema, value);
    validate::check(schema, value)
}
