//! The last failures of every `NodePool`, in a `ConfigMap`: they remain when the NodeClaim, its VM and the
//! events are deleted.
//!
//! The record is written first, so a restarted controller relies on it: a recorded verdict is known, and its
//! missing writes are repeated. Merging is idempotent: the id of an entry is derived from NodeClaim and
//! verdict, and no id is kept twice.

pub mod counts;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::text::{hash, safe};
use crate::verdict::registration::RegistrationCause;

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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailureRecord {
    /// Derived from NodeClaim and verdict; the same failure has the same id.
    pub id: String,
    /// When the node failed.
    pub at: Timestamp,
    /// When it became known, if later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_at: Option<Timestamp>,
    pub uid: String,
    pub node_claim: String,
    /// Empty for a standalone NodeClaim.
    #[serde(default)]
    pub pool: String,
    #[serde(default)]
    pub node_class: String,
    pub node: String,
    pub reason: String,
    pub message: String,
    pub note: String,
    /// Distinguishes verdicts on the same NodeClaim.
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Code that matches the cause, if different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_code: Option<i32>,
    /// Reason of the diagnosis.
    pub cause: String,
    /// The cause in one sentence, without its full stop.
    pub summary: String,
    #[serde(default)]
    pub owner: String,
    #[serde(default)]
    pub confidence: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    #[serde(default)]
    pub source: String,
    /// Only an event reports it; neither Azure nor the API server shows it. Not counted by image.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unconfirmed: bool,
    /// Karpenter had left the NodeClaim, and the message says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_idle: bool,
    /// Gallery, definition and version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launched: Option<Timestamp>,
}

impl FailureRecord {
    pub fn id_of(uid: &str, key: &str) -> String {
        format!("{:016x}", hash(&[uid, key]))
    }

    pub fn reported_at(&self) -> Timestamp {
        self.reported_at.unwrap_or(self.at)
    }

    pub fn blames_image(&self) -> bool {
        !self.unconfirmed && RegistrationCause::can_be_image(&self.cause)
    }
}

pub const NAME: &str = "mooring-failures";
pub const KEY: &str = "failures.json";
pub const SCHEMA: &str = "mooring.failures/v1";

pub fn path(namespace: &str) -> String {
    format!("{}/{NAME}", list_path(namespace))
}

/// A `ConfigMap` holds 1 MiB; half of it allows for JSON escaped in JSON, which at most doubles a printable text.
pub(super) const MAX_BYTES: usize = 480 * 1024;
/// Failures of further pools share one list.
pub(super) const MAX_POOLS: usize = 512;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordDocument {
    pub schema: String,
    /// Failures by pool, oldest first.
    #[serde(default)]
    pub pools: BTreeMap<String, Vec<FailureRecord>>,
    /// Number of failures dropped for lack of space.
    #[serde(default)]
    pub dropped: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("cannot read the failure record: {0}")]
    NoDocument(#[from] serde_json::Error),
    #[error(
        "the failure record has schema {0:?}; this version supports {SCHEMA}\nhint: use the same version of mooring as the controller"
    )]
    OtherSchema(String),
}

impl Default for RecordDocument {
    fn default() -> Self {
        Self { schema: SCHEMA.to_owned(), pools: BTreeMap::new(), dropped: 0 }
    }
}

impl RecordDocument {
    /// Parses the text of the `ConfigMap`. Unknown fields are skipped: schemas only grow.
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        let document: Self = serde_json::from_str(text)?;
        if document.schema != SCHEMA {
            return Err(RecordError::OtherSchema(safe(&document.schema, 64)));
        }
        Ok(document)
    }

    pub fn entries(&self) -> impl Iterator<Item = &FailureRecord> {
        self.pools.values().flatten()
    }

    /// Adds failures, each at most once, and drops the oldest without space, unconfirmed ones first. Returns
    /// true if anything changed.
    pub fn merge(&mut self, entries: &[FailureRecord], kept: usize) -> bool {
        let mut known: HashSet<String> = self.entries().map(|entry| entry.id.clone()).collect();
        let mut changed = false;
        for entry in entries {
            if !known.insert(entry.id.clone()) {
                continue;
            }
            changed = true;
            let fits = self.pools.contains_key(&entry.pool) || self.pools.len() < MAX_POOLS;
            let pool = if fits { entry.pool.as_str() } else { "" };
            let ring = self.pools.entry(pool.to_owned()).or_default();
            if !entry.unconfirmed {
                ring.retain(|other| !other.unconfirmed || other.uid != entry.uid);
            }
            ring.push(entry.clone());
            // Stable, so that entries of the same instant keep their order.
            ring.sort_by_key(|entry| entry.at);
            while ring.len() > kept.max(1) {
                drop_one(ring);
                self.dropped += 1;
            }
        }
        if changed {
            self.shrink();
        }
        changed
    }

    /// Drops the oldest of the longest lists until the document fits.
    fn shrink(&mut self) {
        let size =
            |entry: &FailureRecord| serde_json::to_string(entry).map_or(0, |text| text.len() + 1);
        let mut bytes: usize = 256 + self.entries().map(size).sum::<usize>();
        bytes += self.pools.keys().map(|pool| pool.len() + 8).sum::<usize>();
        while bytes > MAX_BYTES {
            let Some(ring) = self
                .pools
                .values_mut()
                .max_by_key(|ring| ring.len())
                .filter(|ring| !ring.is_empty())
            else {
                return;
            };
            bytes = bytes.saturating_sub(size(&drop_one(ring)));
            self.dropped += 1;
        }
        self.pools.retain(|_, ring| !ring.is_empty());
    }

    /// Returns the `ConfigMap`: a replacement of the given version, or a new object.
    pub fn config_map(&self, namespace: &str, resource_version: Option<&str>) -> Value {
        let text = serde_json::to_string(self).unwrap_or_default();
        StoredText { name: NAME, key: KEY, text }.config_map(namespace, resource_version)
    }

    /// Parses the `ConfigMap`; empty if it has no document.
    pub fn from_config_map(object: &Value) -> Result<Self, RecordError> {
        object["data"][KEY].as_str().map_or_else(|| Ok(Self::default()), Self::parse)
    }
}

/// Removes the oldest unconfirmed failure, else the oldest. The list is not empty.
fn drop_one(ring: &mut Vec<FailureRecord>) -> FailureRecord {
    let at = ring.iter().position(|entry| entry.unconfirmed).unwrap_or_default();
    ring.remove(at)
}
