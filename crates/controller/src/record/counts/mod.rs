//! Joined and failed nodes for each half hour of the last seven days, by pool, image and cause, in a `ConfigMap`.
//!
//! The record keeps the last failures of each pool with their details; the counts are complete and have none.
//! Rows above the limits are counted in a row [`OTHER`], so totals remain true.
//!
//! Guarantee: the first outcome of a NodeClaim is counted once. Outcomes are collected for up to a minute, and
//! each has an id that is stored in the same write as its count ([`CountedIds`]), so a repeated one changes
//! nothing. A leader that is killed before the write loses nothing that the next one can derive again: joined
//! nodes from their NodeClaims, failures from the record, which never drops a failure that is not counted yet
//! (`state/counting.rs`). Only a node that joined and was deleted within the minute before the kill is lost.
//!
//! The document is evidence: it is displayed, and no action depends on it.

mod counted_ids;
mod query;
mod stored;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::hash::hash;
use crate::record::{self, StoredText};
use crate::verdict::text::safe;

pub use counted_ids::{CountedIds, StoredCounts};
pub use query::{Filter, HalfHourCounts, Total};

pub const NAME: &str = "mooring-counts";
pub const KEY: &str = "counts.json";
pub const SCHEMA: &str = "mooring.counts/v1";
/// Pool, image and cause of a row that others were added to. Kubernetes and Azure allow no such names.
pub const OTHER: &str = "(other)";
/// Cause of failures that only an event reports, whose text other clients can write.
pub const UNCONFIRMED: &str = "CSEFailureUnconfirmed";

const HALF_HOUR_SECONDS: i64 = 30 * 60;
const KEPT: SignedDuration = SignedDuration::from_hours(7 * 24);
const AHEAD: SignedDuration = SignedDuration::from_hours(24);

// Maximum size: 8,192 rows of 26 bytes, 16,384 ids of 8 bytes, 128 pools of 64 bytes, 128 images of 128 bytes,
// 256 causes of 64 bytes and 337 half hours of 64 bytes are 410 KiB; a ConfigMap holds 1 MiB.
const MAX_ROWS: usize = 8_192;
const MAX_POOLS: usize = 128;
const MAX_IMAGES: usize = 128;
const MAX_CAUSES: usize = 256;
const MAX_POOL_BYTES: usize = 63;
const MAX_IMAGE_BYTES: usize = 128;
const MAX_CAUSE_BYTES: usize = 64;

pub fn path(namespace: &str) -> String {
    format!("{}/{NAME}", record::list_path(namespace))
}

/// A node that joined or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Derived from the uid of the NodeClaim.
    pub id: u64,
    pub at: Timestamp,
    /// Empty for a standalone NodeClaim.
    pub pool: String,
    /// Empty if unknown.
    pub image: String,
    /// None for a joined node.
    pub cause: Option<String>,
}

impl Outcome {
    pub fn new(uid: &str, at: Timestamp, pool: &str, image: &str, cause: Option<&str>) -> Self {
        Self {
            id: counted_ids::id_of(hash(&[uid])),
            at,
            pool: safe(pool, MAX_POOL_BYTES),
            image: safe(image, MAX_IMAGE_BYTES),
            cause: cause.map(|cause| safe(cause, MAX_CAUSE_BYTES)),
        }
    }

    /// Returns the outcome of a recorded failure.
    pub fn of_failure(entry: &record::Entry) -> Self {
        let cause = if entry.unconfirmed { UNCONFIRMED } else { &entry.cause };
        let image = entry.image.as_deref().unwrap_or_default();
        Self::new(&entry.uid, entry.at, &entry.pool, image, Some(cause))
    }
}

/// Returns the start of the half hour of a time. Counts have no finer times.
pub fn half_hour_start(at: Timestamp) -> Timestamp {
    HalfHour::of(at).start()
}

/// A half hour, counted from the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HalfHour(i64);

impl HalfHour {
    fn of(at: Timestamp) -> Self {
        Self(at.as_second().div_euclid(HALF_HOUR_SECONDS))
    }

    fn start(self) -> Timestamp {
        Timestamp::from_second(self.0.saturating_mul(HALF_HOUR_SECONDS)).unwrap_or(Timestamp::MIN)
    }

    fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowKey {
    pool: String,
    image: String,
    /// None for joined nodes.
    cause: Option<String>,
}

type Rows = BTreeMap<RowKey, u32>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Start of counting: earlier outcomes are not in the document.
    since: Timestamp,
    counted: CountedIds,
    half_hours: BTreeMap<HalfHour, Rows>,
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

impl Document {
    /// Returns an empty document that counts from this time.
    #[must_use]
    pub fn new(since: Timestamp) -> Self {
        let since = Timestamp::from_second(since.as_second()).unwrap_or(since);
        Self { since, counted: CountedIds::new(since), half_hours: BTreeMap::new() }
    }

    /// Parses the text of the `ConfigMap`. Unknown fields are skipped: schemas only grow.
    pub fn parse(text: &str) -> Result<Self, CountsError> {
        stored::parse(text)
    }

    /// Parses the `ConfigMap`.
    pub fn from_config_map(object: &Value) -> Result<Self, CountsError> {
        let text = object["data"][KEY].as_str();
        Self::parse(text.ok_or(CountsError::Damaged("the ConfigMap has no counts"))?)
    }

    /// Returns the `ConfigMap`: a replacement of the given version, or a new object.
    pub fn config_map(&self, namespace: &str, resource_version: Option<&str>) -> Value {
        let text = stored::text(self);
        StoredText { name: NAME, key: KEY, text }.config_map(namespace, resource_version)
    }

    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// Returns true if the outcome of a NodeClaim at this time is in the counts.
    pub fn is_counted(&self, uid: &str, at: Timestamp) -> bool {
        let is_settled = at >= self.since && self.counted.is_settled(at);
        is_settled || self.counted.contains(counted_ids::id_of(hash(&[uid])))
    }

    pub fn counted(&self) -> &CountedIds {
        &self.counted
    }

    /// Counts outcomes, each at most once, and drops half hours that are too old. Returns true if anything
    /// changed.
    pub fn merge(&mut self, outcomes: &[Outcome], now: Timestamp) -> bool {
        self.since = self.since.min(now);
        self.counted.clamp(now);
        let mut names = KnownNames::of(&self.half_hours);
        let mut changed = false;
        for outcome in outcomes {
            // The clock of the API server may be ahead.
            let at = outcome.at.min(now);
            if !self.counted.insert(outcome.id, at) {
                continue;
            }
            changed = true;
            let key = names.bounded(outcome);
            let rows = self.half_hours.entry(HalfHour::of(at)).or_default();
            add(rows, key, 1);
        }
        if changed {
            let oldest = HalfHour::of(now.saturating_sub(KEPT).unwrap_or(Timestamp::MIN));
            self.half_hours = self.half_hours.split_off(&oldest);
            // Far in the future: a wrong clock, or another writer.
            self.half_hours.retain(|half_hour, _| {
                half_hour.start() <= now.saturating_add(AHEAD).unwrap_or(now)
            });
            self.counted.prune(now);
            self.fold();
        }
        changed
    }

    /// Reduces the oldest half hours to their totals until the rows fit.
    fn fold(&mut self) {
        let mut rows: usize = self.half_hours.values().map(BTreeMap::len).sum();
        for half_hour in self.half_hours.values_mut() {
            if rows <= MAX_ROWS {
                return;
            }
            let before = half_hour.len();
            for (key, count) in std::mem::take(half_hour) {
                let cause = key.cause.map(|_| OTHER.to_owned());
                let key = RowKey { pool: OTHER.to_owned(), image: OTHER.to_owned(), cause };
                add(half_hour, key, count);
            }
            rows -= before - half_hour.len();
        }
    }
}

fn add(rows: &mut Rows, key: RowKey, count: u32) {
    let sum = rows.entry(key).or_default();
    *sum = sum.saturating_add(count);
}

/// Names in a document, each kind with a limit.
#[derive(Default)]
struct KnownNames {
    pools: BTreeSet<String>,
    images: BTreeSet<String>,
    causes: BTreeSet<String>,
}

impl KnownNames {
    fn of(half_hours: &BTreeMap<HalfHour, Rows>) -> Self {
        let mut names = Self::default();
        for key in half_hours.values().flat_map(BTreeMap::keys) {
            names.pools.insert(key.pool.clone());
            names.images.insert(key.image.clone());
            names.causes.extend(key.cause.clone());
        }
        names
    }

    fn bounded(&mut self, outcome: &Outcome) -> RowKey {
        // One place each is for `OTHER`.
        let name = |known: &mut BTreeSet<String>, name: &str, max: usize| {
            if !known.contains(name) && known.len() >= max - 1 {
                return OTHER.to_owned();
            }
            known.insert(name.to_owned());
            name.to_owned()
        };
        RowKey {
            pool: name(&mut self.pools, &outcome.pool, MAX_POOLS),
            image: name(&mut self.images, &outcome.image, MAX_IMAGES),
            cause: outcome.cause.as_ref().map(|text| name(&mut self.causes, text, MAX_CAUSES)),
        }
    }
}

#[cfg(test)]
mod tests;
