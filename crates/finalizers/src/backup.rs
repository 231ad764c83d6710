//! A copy of an object whose finalizers are removed.

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use mooring_workflow::Backup;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Larger objects are compressed.
const MAX_PLAIN: usize = 8 * 1024;
/// Half of the 1 MiB of a `ConfigMap`.
const MAX_PACKED: usize = 512 * 1024;

/// Longer annotations are not kept.
const MAX_ANNOTATION: usize = 1024;

/// An object without secrets and `managedFields`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedObject {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Value>,
    /// Base64 of gzip of a larger object's JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed: Option<String>,
    /// Pointers to omitted members that may be secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stripped: Vec<String>,
}

impl SavedObject {
    /// Returns the required size if a `ConfigMap` cannot store it.
    pub fn of(object: &Value) -> Result<Self, usize> {
        let mut object = object.clone();
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        // Tools store the whole object in an annotation.
        let notes = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
        if let Some(notes) = notes {
            notes.retain(|_, note| note.as_str().is_some_and(is_short_text));
        }
        let stripped = mooring_redact::json::strip(&mut object);
        let text = object.to_string();
        if text.len() <= MAX_PLAIN {
            return Ok(Self { object: Some(object), packed: None, stripped });
        }
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        // Writing to a vector does not fail.
        let bytes = gzip.write_all(text.as_bytes()).and_then(|()| gzip.finish());
        let packed = BASE64_STANDARD.encode(bytes.unwrap_or_default());
        if packed.len() > MAX_PACKED {
            return Err(packed.len());
        }
        Ok(Self { object: None, packed: Some(packed), stripped })
    }

    /// Returns the text of the copy, or its required size.
    pub fn backup(object: &Value) -> Result<Backup, usize> {
        // Writing to memory does not fail.
        Self::of(object).map(|saved| Backup::new(serde_json::to_string(&saved).unwrap_or_default()))
    }

    pub fn restore(&self) -> Option<Value> {
        if let Some(object) = &self.object {
            return Some(object.clone());
        }
        let bytes = BASE64_STANDARD.decode(self.packed.as_ref()?).ok()?;
        let mut text = String::new();
        GzDecoder::new(bytes.as_slice()).take(64 << 20).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }
}

fn is_short_text(text: &str) -> bool {
    text.len() <= MAX_ANNOTATION && !text.trim_start().starts_with(['{', '['])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn backup_restores_the_object_without_secrets() {
        for size in [10, 100_000] {
            let object = json!({
                "metadata": {"name": "x", "finalizers": ["a.b/c"], "managedFields": [{"manager": "m"}],
                    "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{\"password\":\"hunter2\"}", "packed": "h4sI".repeat(400), "a": "b"}},
                "spec": {"text": "y".repeat(size), "password": "hunter2"},
            });
            let backup = SavedObject::of(&object).unwrap();
            assert_eq!(backup.packed.is_some(), size > MAX_PLAIN);
            assert_eq!(backup.stripped, ["/spec/password"]);
            let restored = backup.restore().unwrap();
            assert_eq!(restored["spec"]["text"], object["spec"]["text"]);
            assert_eq!(restored["metadata"]["finalizers"], object["metadata"]["finalizers"]);
            assert_eq!(restored["metadata"]["annotations"], json!({"a": "b"}));
            assert!(!restored.to_string().contains("hunter2"));
            assert!(restored["metadata"].get("managedFields").is_none());
        }
    }

    #[test]
    fn backup_is_limited_by_the_size_of_the_journal() {
        // Text that does not pack: a chain of hashes.
        let mut text = String::new();
        let mut link = "seed".to_owned();
        while text.len() < 1_400_000 {
            link = mooring_workflow::canonical::hash_bytes(link.as_bytes());
            text.push_str(&link);
        }
        let object = json!({ "spec": text });
        let bytes = SavedObject::of(&object).unwrap_err();
        assert!(bytes > MAX_PACKED, "{bytes}");
    }
}
