//! The counts in a `ConfigMap`, as JSON: names in lists, rows as indexes into them.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    CountedIds, CountsDocument, HalfHour, ID_BYTES, KnownNames, MAX_CAUSE_BYTES, MAX_IMAGE_BYTES,
    MAX_POOL_BYTES, RowKey, Rows, add,
};
use crate::record::{self, StoredText};
use crate::text::safe;

pub const NAME: &str = "mooring-counts";
pub const KEY: &str = "counts.json";
pub const SCHEMA: &str = "mooring.counts/v1";

pub fn path(namespace: &str) -> String {
    format!("{}/{NAME}", record::list_path(namespace))
}

#[derive(Debug, thiserror::Error)]
pub enum CountsError {
    #[error("cannot read the counts: {0}")]
    NoDocument(#[from] serde_json::Error),
    #[error(
        "the counts have schema {0:?}; this version supports {SCHEMA}\nhint: use the same version of mooring as the controller"
    )]
    OtherSchema(String),
    #[error(
        "the counts are damaged: {0}\nhint: delete the ConfigMap {NAME}; the controller creates it again"
    )]
    Damaged(&'static str),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredDocument {
    schema: String,
    since: Timestamp,
    settled_before: Timestamp,
    #[serde(default)]
    pools: Vec<String>,
    #[serde(default)]
    images: Vec<String>,
    #[serde(default)]
    causes: Vec<String>,
    #[serde(default)]
    half_hours: Vec<StoredHalfHour>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredHalfHour {
    at: Timestamp,
    /// Pool, image, cause (null for joined nodes) and count.
    #[serde(default)]
    rows: Vec<(usize, usize, Option<usize>, u32)>,
    /// Ids in 6 bytes each, in Base64.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    ids: String,
}

#[derive(Deserialize)]
struct Header {
    #[serde(default)]
    schema: String,
}

impl CountsDocument {
    /// Parses the text of the `ConfigMap`. Unknown fields are skipped: schemas only grow.
    pub fn parse(text: &str) -> Result<Self, CountsError> {
        let Header { schema } = serde_json::from_str(text)?;
        if schema != SCHEMA {
            return Err(CountsError::OtherSchema(safe(&schema, 64)));
        }
        let stored: StoredDocument = serde_json::from_str(text)?;
        // Other clients may have written the names.
        let names = |names: Vec<String>, max| -> Vec<String> {
            names.iter().map(|name| safe(name, max)).collect()
        };
        let pools = names(stored.pools, MAX_POOL_BYTES);
        let images = names(stored.images, MAX_IMAGE_BYTES);
        let causes = names(stored.causes, MAX_CAUSE_BYTES);
        let missing = CountsError::Damaged("a row has a name that is not listed");
        let mut counted = CountedIds::new(stored.settled_before);
        let mut half_hours: BTreeMap<HalfHour, Rows> = BTreeMap::new();
        for StoredHalfHour { at, rows, ids } in stored.half_hours {
            let half_hour = HalfHour::of(at);
            counted.restore(half_hour, decode(&ids)?.into_iter());
            for (pool, image, cause, count) in rows {
                let cause = cause.map(|cause| causes.get(cause));
                let (Some(pool), Some(image), false) =
                    (pools.get(pool), images.get(image), cause == Some(None))
                else {
                    return Err(missing);
                };
                let cause = cause.flatten().cloned();
                let key = RowKey { pool: pool.clone(), image: image.clone(), cause };
                add(half_hours.entry(half_hour).or_default(), key, count);
            }
        }
        Ok(Self { since: stored.since, counted, half_hours })
    }

    pub fn from_config_map(object: &Value) -> Result<Self, CountsError> {
        let text = object["data"][KEY].as_str();
        Self::parse(text.ok_or(CountsError::Damaged("the ConfigMap has no counts"))?)
    }

    /// Returns the `ConfigMap`: a replacement of the given version, or a new object.
    pub fn config_map(&self, namespace: &str, resource_version: Option<&str>) -> Value {
        let text = text(self);
        StoredText { name: NAME, key: KEY, text }.config_map(namespace, resource_version)
    }
}

pub(super) fn text(document: &CountsDocument) -> String {
    let names = KnownNames::of(&document.half_hours);
    let [pools, images, causes] = [names.pools, names.images, names.causes]
        .map(|names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>());
    // The lists are sorted, and contain every name of the rows.
    let index = |names: &[String], name: &String| names.binary_search(name).unwrap_or_default();
    let mut ids = document.counted.by_half_hour();
    let times: BTreeSet<HalfHour> = document.half_hours.keys().chain(ids.keys()).copied().collect();
    let half_hours = times.into_iter().map(|half_hour| {
        let rows = document.half_hours.get(&half_hour).into_iter().flatten();
        let rows = rows.map(|(key, count)| {
            let cause = key.cause.as_ref().map(|cause| index(&causes, cause));
            (index(&pools, &key.pool), index(&images, &key.image), cause, *count)
        });
        StoredHalfHour {
            at: half_hour.start(),
            rows: rows.collect(),
            ids: encode(&ids.remove(&half_hour).unwrap_or_default()),
        }
    });
    let half_hours = half_hours.collect();
    let stored = StoredDocument {
        schema: SCHEMA.to_owned(),
        since: document.since,
        settled_before: document.counted.settled_before(),
        pools,
        images,
        causes,
        half_hours,
    };
    serde_json::to_string(&stored).unwrap_or_default()
}

fn encode(ids: &[u64]) -> String {
    let bytes: Vec<u8> =
        ids.iter().flat_map(|id| id.to_be_bytes()[8 - ID_BYTES..].to_owned()).collect();
    STANDARD_NO_PAD.encode(bytes)
}

fn decode(text: &str) -> Result<Vec<u64>, CountsError> {
    let damaged = || CountsError::Damaged("a list of ids is not Base64");
    let bytes = STANDARD_NO_PAD.decode(text).map_err(|_| damaged())?;
    let (ids, rest) = bytes.as_chunks::<ID_BYTES>();
    if !rest.is_empty() {
        return Err(damaged());
    }
    Ok(ids.iter().map(|id| id.iter().fold(0, |id, byte| id << 8 | u64::from(*byte))).collect())
}
