//! Documents of the controller in a `ConfigMap` each.

use serde_json::{Value, json};

pub fn list_path(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps")
}

/// A `ConfigMap` with one document: a replacement of the given version, or a new object.
pub struct StoredText<'a> {
    pub name: &'a str,
    pub key: &'a str,
    pub text: String,
}

impl StoredText<'_> {
    pub fn config_map(self, namespace: &str, resource_version: Option<&str>) -> Value {
        let mut object = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": self.name, "namespace": namespace, "labels": {"app.kubernetes.io/managed-by": "mooring"}},
            "data": {self.key: self.text},
        });
        if let Some(version) = resource_version {
            object["metadata"]["resourceVersion"] = json!(version);
        }
        object
    }
}
