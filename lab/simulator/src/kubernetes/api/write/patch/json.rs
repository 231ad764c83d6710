//! JSON Patch: all operations succeed or none has an effect.

use serde_json::Value;

use crate::kubernetes::api::state::StatusError;
use crate::kubernetes::store::objects::text;

/// Applies the operations; a failed test or a missing path rejects the whole patch.
pub(super) fn apply(value: &mut Value, patch: &Value) -> Result<(), StatusError> {
    let Some(operations) = patch.as_array() else {
        return Err(StatusError::bad_request(
            "error decoding patch: it must be a list of operations",
        ));
    };
    let mut result = value.clone();
    for operation in operations {
        step(&mut result, operation).ok_or_else(StatusError::unprocessable_patch)?;
    }
    *value = result;
    Ok(())
}

fn step(document: &mut Value, operation: &Value) -> Option<()> {
    let path = pointer(operation.get("path")?.as_str()?)?;
    match text(operation, &["op"]) {
        "add" => add(document, &path, operation.get("value")?.clone()),
        "remove" => remove(document, &path).map(|_| ()),
        "replace" => {
            *find(document, &path)? = operation.get("value")?.clone();
            Some(())
        }
        "test" => {
            // The server's library takes a missing member for null.
            let wanted = operation.get("value").unwrap_or(&Value::Null);
            let found = find(document, &path).map_or(&Value::Null, |found| &*found);
            (found == wanted).then_some(())
        }
        word @ ("copy" | "move") => {
            let from = pointer(operation.get("from")?.as_str()?)?;
            let value = match word {
                "copy" => find(document, &from)?.clone(),
                _ => remove(document, &from)?,
            };
            add(document, &path, value)
        }
        _ => None,
    }
}

/// Splits `/a~1b/0` into its segments.
fn pointer(path: &str) -> Option<Vec<String>> {
    if path.is_empty() {
        return Some(Vec::new());
    }
    let parts = path.strip_prefix('/')?.split('/');
    Some(parts.map(|part| part.replace("~1", "/").replace("~0", "~")).collect())
}

fn find<'a>(document: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(document, |value, part| match value {
        Value::Object(members) => members.get_mut(part),
        Value::Array(items) => {
            let at = index(part, items.len())?;
            items.get_mut(at)
        }
        _ => None,
    })
}

/// Parses a list index; negative ones count from the end, as in the server's library.
fn index(part: &str, length: usize) -> Option<usize> {
    match part.strip_prefix('-') {
        Some(back) => length.checked_sub(back.parse().ok()?),
        None => part.parse().ok(),
    }
}

fn add(document: &mut Value, path: &[String], new: Value) -> Option<()> {
    let Some((last, parents)) = path.split_last() else {
        *document = new;
        return Some(());
    };
    match find(document, parents)? {
        Value::Object(members) => {
            members.insert(last.clone(), new);
        }
        Value::Array(items) if last == "-" => items.push(new),
        Value::Array(items) => {
            let at = index(last, items.len()).filter(|at| *at <= items.len())?;
            items.insert(at, new);
        }
        _ => return None,
    }
    Some(())
}

fn remove(document: &mut Value, path: &[String]) -> Option<Value> {
    let (last, parents) = path.split_last()?;
    match find(document, parents)? {
        Value::Object(members) => members.remove(last),
        Value::Array(items) => {
            let at = index(last, items.len()).filter(|at| *at < items.len())?;
            Some(items.remove(at))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn operations_follow_the_standard() {
        for (patch, expected) in [
            (
                json!([{"op": "add", "path": "/list/-", "value": 3}]),
                json!({"list": [1, 2, 3], "a/b": 1}),
            ),
            (
                json!([{"op": "add", "path": "/list/0", "value": 0}]),
                json!({"list": [0, 1, 2], "a/b": 1}),
            ),
            (json!([{"op": "remove", "path": "/a~1b"}]), json!({"list": [1, 2]})),
            (
                json!([{"op": "replace", "path": "/list/1", "value": 9}]),
                json!({"list": [1, 9], "a/b": 1}),
            ),
            (
                json!([{"op": "move", "from": "/a~1b", "path": "/c"}]),
                json!({"list": [1, 2], "c": 1}),
            ),
            (
                json!([{"op": "copy", "from": "/list/0", "path": "/c"}]),
                json!({"list": [1, 2], "a/b": 1, "c": 1}),
            ),
        ] {
            let mut value = json!({"list": [1, 2], "a/b": 1});
            apply(&mut value, &patch).unwrap();
            assert_eq!(value, expected, "{patch}");
        }
    }

    #[test]
    fn a_patch_that_fails_anywhere_has_no_effect() {
        for last in [
            json!({"op": "test", "path": "/list/0", "value": 7}),
            json!({"op": "remove", "path": "/none"}),
            json!({"op": "replace", "path": "/none", "value": 1}),
            json!({"op": "add", "path": "/list/9", "value": 1}),
            json!({"op": "add", "path": "/none/x", "value": 1}),
        ] {
            let mut value = json!({"list": [1, 2]});
            let patch = json!([{"op": "add", "path": "/new", "value": 1}, last]);
            assert_eq!(apply(&mut value, &patch).unwrap_err().code, 422, "{patch}");
            assert_eq!(value, json!({"list": [1, 2]}));
        }
    }
}
