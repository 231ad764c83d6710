//! The last failures of every `NodePool`, in a `ConfigMap`: what remains when the claim, its VM and the
//! events are gone.
//!
//! It is written before anything else, so it is also what a restarted controller goes by: a verdict in
//! the record is known, and what is missing of its other writes is made up for. Merging is idempotent:
//! an entry has an id that follows from claim and verdict, and no id is kept twice.

pub mod legacy;

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::hash::hash;
use crate::verdict::failure::Source;
use crate::verdict::registration::Cause;
use crate::verdict::text::safe;

/// The `ConfigMap`'s name.
pub const NAME: &str = "mooring-failures";
/// The key that holds the document.
pub const KEY: &str = "failures.json";
pub const SCHEMA: &str = "mooring.failures/v1";

/// The path of all `ConfigMap`s of a namespace.
pub(crate) fn list_path(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps")
}

/// The path of the record in a namespace.
pub(crate) fn path(namespace: &str) -> String {
    format!("{}/{NAME}", list_path(namespace))
}

/// A `ConfigMap` holds 1 MiB; half of it leaves room for the escaping of JSON in JSON, which at most
/// doubles a printable text.
const MOST_BYTES: usize = 480 * 1024;
/// More pools than this share the last places.
const MOST_POOLS: usize = 512;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// From claim and verdict; the same failure has the same id.
    pub id: String,
    pub at: Timestamp,
    pub uid: String,
    pub node_claim: String,
    /// The pool; empty for a standalone claim.
    #[serde(default)]
    pub pool: String,
    #[serde(default)]
    pub node_class: String,
    pub node: String,
    pub reason: String,
    pub message: String,
    /// The note of the events.
    pub note: String,
    /// What tells this verdict from others of the same claim.
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The code that fits the cause, where that is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_code: Option<i32>,
    /// The cause: a diagnosis's reason.
    pub cause: String,
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
    /// The image: gallery, definition and version; only the version in a record of version 0.1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launched: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    pub schema: String,
    /// Failures by pool, the oldest first.
    #[serde(default)]
    pub pools: BTreeMap<String, Vec<Entry>>,
    /// How many were dropped because there was no room.
    #[serde(default)]
    pub dropped: u64,
    /// The namespace whose record of an earlier version was merged into this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_from: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("the record of failures cannot be read: {0}")]
    NoDocument(#[from] serde_json::Error),
    /// Somebody newer wrote it.
    #[error(
        "the record of failures has the schema {0:?}; this version knows {SCHEMA}\nhint: use the version of mooring that the controller has"
    )]
    OtherSchema(String),
}

impl Entry {
    /// The id that goes with a claim and a verdict's key.
    pub fn id_of(uid: &str, key: &str) -> String {
        format!("{:016x}", hash(&[uid, key]))
    }

    pub fn blames_image(&self) -> bool {
        !self.unconfirmed && Cause::can_be_image(&self.cause)
    }
}

impl Default for Document {
    fn default() -> Self {
        Self { schema: SCHEMA.to_owned(), pools: BTreeMap::new(), dropped: 0, taken_from: None }
    }
}

impl Document {
    /// From the `ConfigMap`'s text. Members that are not known are skipped: schemas only grow.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let mut document: Self = serde_json::from_str(text)?;
        if document.schema != SCHEMA {
            return Err(Unreadable::OtherSchema(safe(&document.schema, 64)));
        }
        // Version 0.1.0 did not mark them.
        for entry in document.pools.values_mut().flatten() {
            entry.unconfirmed |= entry.source == Source::KarpenterEvent.as_str();
        }
        Ok(document)
    }

    /// All failures, pool by pool.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.pools.values().flatten()
    }

    /// Adds failures, each at most once, and drops the oldest where there is no room, unconfirmed ones first. Says
    /// whether anything changed; if not, there is nothing to write.
    pub fn merge(&mut self, entries: &[Entry], kept: usize) -> bool {
        let mut known: HashSet<String> = self.entries().map(|entry| entry.id.clone()).collect();
        let mut changed = false;
        for entry in entries {
            if !known.insert(entry.id.clone()) {
                continue;
            }
            changed = true;
            let fits = self.pools.contains_key(&entry.pool) || self.pools.len() < MOST_POOLS;
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

    /// Merges the record of another namespace, once.
    pub fn take_over(&mut self, other: &Self, namespace: &str, kept: usize) {
        let entries: Vec<Entry> = other.entries().cloned().collect();
        self.merge(&entries, kept);
        self.dropped += other.dropped;
        self.taken_from = Some(namespace.to_owned());
    }

    /// Drops the oldest of the longest rings until the document fits.
    fn shrink(&mut self) {
        let size = |entry: &Entry| serde_json::to_string(entry).map_or(0, |text| text.len() + 1);
        let mut bytes: usize = 256 + self.entries().map(size).sum::<usize>();
        bytes += self.pools.keys().map(|pool| pool.len() + 8).sum::<usize>();
        while bytes > MOST_BYTES {
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

    /// The `ConfigMap`, replacing the given version or created anew.
    pub fn config_map(&self, namespace: &str, resource_version: Option<&str>) -> Value {
        let text = serde_json::to_string(self).unwrap_or_default();
        let mut object = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": NAME, "namespace": namespace, "labels": {"app.kubernetes.io/managed-by": "mooring"}},
            "data": {KEY: text},
        });
        if let Some(version) = resource_version {
            object["metadata"]["resourceVersion"] = json!(version);
        }
        object
    }

    /// From the `ConfigMap`; an empty document if it holds none.
    pub fn from_config_map(object: &Value) -> Result<Self, Unreadable> {
        object["data"][KEY].as_str().map_or_else(|| Ok(Self::default()), Self::parse)
    }
}

/// Removes the oldest unconfirmed failure of a ring, else the oldest. The ring is not empty.
fn drop_one(ring: &mut Vec<Entry>) -> Entry {
    let at = ring.iter().position(|entry| entry.unconfirmed).unwrap_or_default();
    ring.remove(at)
}

#[cfg(test)]
mod tests;
