//! Validates documents against the schemas that `mooring schema` prints.

use mooring_testbed::schema::validate;
use serde_json::Value;

use super::{mooring, text};

/// Fails if the document does not match the schema that it names, or has a member that the schema does not.
pub(crate) fn assert_valid(document: &Value) {
    let id = document["schema"].as_str().expect("a schema");
    let printed = mooring().args(["schema", id]).output().unwrap();
    assert!(printed.status.success(), "{id}: {}", text(&printed.stderr));
    let schema: Value = serde_json::from_slice(&printed.stdout).unwrap();
    if let Err(error) = validate(document, &schema) {
        panic!("{id}: {error}\n{document:#}");
    }
    assert_plain_names(document);
}

/// Fails for members in `snake_case`, and for those called `reason`.
fn assert_plain_names(value: &Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                assert!(!name.contains('_') && name != "reason", "{name}");
                assert_plain_names(value);
            }
        }
        Value::Array(items) => items.iter().for_each(assert_plain_names),
        _ => {}
    }
}
