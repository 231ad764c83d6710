//! A copy of an object whose finalizers are removed, for the journal.

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use mooring_workflow::secret_fields;
use mooring_workflow::store::JournalPlace;

/// Larger ones are packed.
const PLAIN: usize = 8 * 1024;
/// A record must fit into one `ConfigMap`, which has 1 MiB; half of it leaves room for the rest of the record.
const MOST_IN_CONFIG_MAP: usize = 512 * 1024;
/// An API server stores objects of 1.5 MiB.
const MOST_IN_FILE: usize = 8 * 1024 * 1024;

/// What is longer is no annotation for people, and may be packed.
const LONGEST_NOTE: usize = 1024;

/// An object as it was, without what may hold a secret and without the account of who wrote which field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// The object, if it is small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Value>,
    /// Base64 of gzip of its JSON, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed: Option<String>,
    /// What was left out since it may hold a secret, as pointers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stripped: Vec<String>,
}

impl Backup {
    /// The backup of an object; else how many bytes it would need, which the journal does not have.
    pub fn of(object: &Value, journal: &JournalPlace) -> Result<Self, usize> {
        let mut object = object.clone();
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        // Tools keep the whole object there once more, as a text that nobody looks into.
        let notes = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
        if let Some(notes) = notes {
            notes.retain(|_, note| note.as_str().is_some_and(is_a_note));
        }
        let stripped = secret_fields::strip(&mut object);
        let text = object.to_string();
        if text.len() <= PLAIN {
            return Ok(Self { object: Some(object), packed: None, stripped });
        }
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        // A vector takes everything.
        let bytes = gzip.write_all(text.as_bytes()).and_then(|()| gzip.finish());
        let packed = BASE64_STANDARD.encode(bytes.unwrap_or_default());
        let most = match journal {
            JournalPlace::ConfigMap(_) => MOST_IN_CONFIG_MAP,
            JournalPlace::File(_) => MOST_IN_FILE,
        };
        if packed.len() > most {
            return Err(packed.len());
        }
        Ok(Self { object: None, packed: Some(packed), stripped })
    }

    /// The object, to be looked at or made again.
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

/// Neither a document nor as long as one.
fn is_a_note(text: &str) -> bool {
    text.len() <= LONGEST_NOTE && !text.trim_start().starts_with(['{', '['])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_backup_gives_the_object_back_without_secrets() {
        for size in [10, 100_000] {
            let object = json!({
                "metadata": {"name": "x", "finalizers": ["a.b/c"], "managedFields": [{"manager": "m"}],
                    "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{\"password\":\"hunter2\"}", "packed": "h4sI".repeat(400), "a": "b"}},
                "spec": {"text": "y".repeat(size), "password": "hunter2"},
            });
            let backup = Backup::of(&object, &JournalPlace::default()).unwrap();
            assert_eq!(backup.packed.is_some(), size > PLAIN);
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
    fn a_backup_that_does_not_fit_is_refused_and_a_file_has_more_room() {
        // Text that does not pack: a chain of hashes.
        let mut text = String::new();
        let mut link = "seed".to_owned();
        while text.len() < 1_400_000 {
            link = mooring_workflow::canonical::hash_bytes(link.as_bytes());
            text.push_str(&link);
        }
        let object = json!({ "spec": text });
        let bytes = Backup::of(&object, &JournalPlace::default()).unwrap_err();
        assert!(bytes > MOST_IN_CONFIG_MAP, "{bytes}");
        let kept = Backup::of(&object, &JournalPlace::File("j".into())).unwrap();
        assert_eq!(kept.restore().unwrap(), object);
    }
}
