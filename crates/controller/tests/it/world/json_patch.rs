//! The subset of RFC 6902 that the controller uses.

use serde_json::Value;

/// Returns the patched object; none if a test failed or a path does not exist.
pub(crate) fn apply(object: &Value, steps: &Value) -> Option<Value> {
    let mut object = object.clone();
    for step in steps.as_array()? {
        let path = step["path"].as_str()?;
        let value = &step["value"];
        match step["op"].as_str()? {
            "test" => (object.pointer(path)? == value).then_some(())?,
            "replace" => *object.pointer_mut(path)? = value.clone(),
            "add" => {
                let (parent, key) = path.rsplit_once('/')?;
                match object.pointer_mut(parent)? {
                    Value::Object(members) => {
                        members.insert(key.to_owned(), value.clone());
                    }
                    Value::Array(items) if key == "-" => items.push(value.clone()),
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    Some(object)
}
