use serde_json::{Map, Value, json};

use crate::azure::api::request::{ArmCall, ArmError, ArmResult, Reply};
use crate::azure::state::{AzureState, text};

impl AzureState {
    pub(crate) fn tags(&mut self, call: &ArmCall, scope: &str) -> ArmResult {
        let Some(body) = self.store.get(scope) else {
            let message = format!("The resource '{scope}' was not found.");
            return Err(ArmError::new(404, "ResourceNotFound", message));
        };
        let (id, kind) = (text(body, "/id").to_owned(), text(body, "/type").to_owned());
        let mut tags = body["tags"].as_object().cloned().unwrap_or_default();
        match call.method.as_str() {
            "GET" => return Ok(Reply::ok(shown(&id, &tags))),
            "PUT" => tags = sent(call)?,
            "DELETE" => tags = Map::new(),
            "PATCH" => {
                let sent = sent(call)?;
                match call.object()?.get("operation").and_then(Value::as_str) {
                    Some(word) if word.eq_ignore_ascii_case("Merge") => tags.extend(sent),
                    Some(word) if word.eq_ignore_ascii_case("Replace") => tags = sent,
                    Some(word) if word.eq_ignore_ascii_case("Delete") => {
                        tags.retain(|name, _| !sent.contains_key(name));
                    }
                    _ => {
                        let message =
                            "The operation must be one of 'Merge', 'Replace' and 'Delete'.";
                        return Err(ArmError::new(400, "InvalidTagsOperation", message));
                    }
                }
            }
            other => return Err(ArmError::bad_method(other)),
        }
        let is_cluster = kind.eq_ignore_ascii_case("Microsoft.ContainerService/managedClusters");
        if is_cluster {
            self.check_idle(&id)?;
        }
        if let Some(body) = self.store.get_mut(&id) {
            body["tags"] = Value::Object(tags.clone());
        }
        if is_cluster {
            self.retag_cluster(call, &id)?;
        }
        if call.method == http::Method::DELETE {
            return Ok(Reply::new(200));
        }
        Ok(Reply::ok(shown(&id, &tags)))
    }
}

fn sent(call: &ArmCall) -> Result<Map<String, Value>, ArmError> {
    let tags = call
        .body
        .as_ref()
        .and_then(|body| body.pointer("/properties/tags"))
        .and_then(Value::as_object);
    tags.cloned().ok_or_else(|| ArmError::bad_body("The request content has no 'properties.tags'."))
}

fn shown(id: &str, tags: &Map<String, Value>) -> Value {
    json!({
        "id": format!("{id}/providers/Microsoft.Resources/tags/default"),
        "name": "default",
        "type": "Microsoft.Resources/tags",
        "properties": {"tags": tags},
    })
}
