//! Outcomes of nodes, and their counts by half hour.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::counted_ids::{CountedIds, id_of};
use super::half_hour::HalfHour;
use crate::hash::hash;
use crate::record;
use crate::text::safe;

/// Pool, image and cause of a row that others were added to. Kubernetes and Azure allow no such names.
pub const OTHER: &str = "(other)";
/// Cause of failures that only an event reports, whose text other clients can write.
pub const UNCONFIRMED: &str = "CSEFailureUnconfirmed";

pub(super) const KEPT: SignedDuration = SignedDuration::from_hours(7 * 24);
const AHEAD: SignedDuration = SignedDuration::from_hours(24);

// Maximum size: 8,192 rows of 26 bytes, 16,384 ids of 8 bytes, 128 pools of 64 bytes, 128 images of 128 bytes,
// 256 causes of 64 bytes and 337 half hours of 64 bytes are 410 KiB; a ConfigMap holds 1 MiB.
pub(super) const MAX_ROWS: usize = 8_192;
pub(super) const MAX_POOLS: usize = 128;
pub(super) const MAX_IMAGES: usize = 128;
pub(super) const MAX_CAUSES: usize = 256;
pub(super) const MAX_POOL_BYTES: usize = 63;
pub(super) const MAX_IMAGE_BYTES: usize = 128;
pub(super) const MAX_CAUSE_BYTES: usize = 64;

/// A node that joined or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedNode {
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

impl CountedNode {
    pub fn new(uid: &str, at: Timestamp, pool: &str, image: &str, cause: Option<&str>) -> Self {
        Self {
            id: id_of(hash(&[uid])),
            at,
            pool: safe(pool, MAX_POOL_BYTES),
            image: safe(image, MAX_IMAGE_BYTES),
            cause: cause.map(|cause| safe(cause, MAX_CAUSE_BYTES)),
        }
    }

    /// Returns the outcome of a recorded failure.
    pub fn of_failure(entry: &record::FailureRecord) -> Self {
        let cause = if entry.unconfirmed { UNCONFIRMED } else { &entry.cause };
        let image = entry.image.as_deref().unwrap_or_default();
        Self::new(&entry.uid, entry.at, &entry.pool, image, Some(cause))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowKey {
    pub(super) pool: String,
    pub(super) image: String,
    /// None for joined nodes.
    pub(super) cause: Option<String>,
}

pub(super) type Rows = BTreeMap<RowKey, u32>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountsDocument {
    /// Start of counting: earlier outcomes are not in the document.
    pub(super) since: Timestamp,
    pub(super) counted: CountedIds,
    pub(super) half_hours: BTreeMap<HalfHour, Rows>,
}

impl CountsDocument {
    /// Returns an empty document that counts from this time.
    #[must_use]
    pub fn new(since: Timestamp) -> Self {
        let since = Timestamp::from_second(since.as_second()).unwrap_or(since);
        Self { since, counted: CountedIds::new(since), half_hours: BTreeMap::new() }
    }

    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// Returns true if the outcome of a NodeClaim at this time is in the counts.
    pub fn is_counted(&self, uid: &str, at: Timestamp) -> bool {
        let is_settled = at >= self.since && self.counted.is_settled(at);
        is_settled || self.counted.contains(id_of(hash(&[uid])))
    }

    pub fn counted(&self) -> &CountedIds {
        &self.counted
    }

    /// Counts outcomes, each at most once, and drops half hours that are too old. Returns true if anything
    /// changed.
    pub fn merge(&mut self, outcomes: &[CountedNode], now: Timestamp) -> bool {
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

pub(super) fn add(rows: &mut Rows, key: RowKey, count: u32) {
    let sum = rows.entry(key).or_default();
    *sum = sum.saturating_add(count);
}

/// Names in a document, each kind with a limit.
#[derive(Default)]
pub(super) struct KnownNames {
    pub(super) pools: BTreeSet<String>,
    pub(super) images: BTreeSet<String>,
    pub(super) causes: BTreeSet<String>,
}

impl KnownNames {
    pub(super) fn of(half_hours: &BTreeMap<HalfHour, Rows>) -> Self {
        let mut names = Self::default();
        for key in half_hours.values().flat_map(BTreeMap::keys) {
            names.pools.insert(key.pool.clone());
            names.images.insert(key.image.clone());
            names.causes.extend(key.cause.clone());
        }
        names
    }

    fn bounded(&mut self, outcome: &CountedNode) -> RowKey {
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
