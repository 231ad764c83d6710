//! Custom resources: what a definition says, and what follows from it.

mod default;
mod definition;
mod prune;
pub(crate) mod schema;
mod validate;

use serde_json::Value;

use super::status_error::FieldError;
use schema::Schema;

pub(crate) use definition::check_definition;

/// Where definitions are stored.
pub(crate) const TABLE: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Prunes and defaults an object, and says what is wrong with it.
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
