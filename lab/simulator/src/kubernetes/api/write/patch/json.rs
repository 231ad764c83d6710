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
        "remove" => remove(document, &path),
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
        Value::Array(items) => items.get_mut(part.parse::<usize>().ok()?),
        _ => None,
    })
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
            let at = last.parse().ok().filter(|at| *at <= items.len())?;
            items.insert(at, new);
        }
        _ => return None,
    }
    Some(())
}

fn remove(document: &mut Value, path: &[String]) -> Option<()> {
    let (last, parents) = path.split_last()?;
    match find(document, parents)? {
        Value::Object(members) => members.remove(last).map(|_| ()),
        Value::Array(items) => {
            let at = last.parse().ok().filter(|at| *at < items.len())?;
            items.remove(at);
            Some(())
        }
        _ => None,
    }
}
