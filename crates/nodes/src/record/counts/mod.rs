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

mod stored;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::record;
use crate::text::{hash, safe};

pub use stored::{CountsError, KEY, NAME, SCHEMA, path};

pub(super) const HALF_HOUR_SECONDS: i64 = 30 * 60;

/// Returns the start of the half hour of a time. Counts have no finer times.
pub fn half_hour_start(at: Timestamp) -> Timestamp {
    HalfHour::of(at).start()
}

/// A half hour, counted from the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HalfHour(pub(super) i64);

impl HalfHour {
    pub(super) fn of(at: Timestamp) -> Self {
        Self(at.as_second().div_euclid(HALF_HOUR_SECONDS))
    }

    pub(super) fn start(self) -> Timestamp {
        Timestamp::from_second(self.0.saturating_mul(HALF_HOUR_SECONDS)).unwrap_or(Timestamp::MIN)
    }

    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Outcomes become known within minutes; hours pass while Azure throttles, or until a watch recovers.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(6);
/// More than 5,000 nodes that are replaced three times within the time above.
const MAX_IDS: usize = 16_384;
/// An id is stored as 8 characters. Two of 16,384 have the same one in 1 of 2 million documents.
pub(super) const ID_BYTES: usize = 6;

pub(super) fn id_of(hash: u64) -> u64 {
    hash & ((1 << (8 * ID_BYTES)) - 1)
}

/// Recent outcomes by id, and the time before which every outcome counts as counted.
///
/// The time advances only with writes, so outcomes of a time without a controller are counted by the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedIds {
    settled_before: Timestamp,
    ids: BTreeMap<u64, HalfHour>,
}

/// The counts as a new leader finds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredCounts {
    Missing,
    /// Not changed, and nothing is counted.
    Unreadable,
    Counted(CountedIds),
}

impl CountedIds {
    /// Returns no ids; outcomes before this time are not to be counted.
    #[must_use]
    pub fn new(settled_before: Timestamp) -> Self {
        Self { settled_before, ids: BTreeMap::new() }
    }

    pub(super) fn restore(&mut self, half_hour: HalfHour, ids: impl Iterator<Item = u64>) {
        self.ids.extend(ids.map(|id| (id, half_hour)));
    }

    pub(super) fn settled_before(&self) -> Timestamp {
        self.settled_before
    }

    /// Returns ids by half hour.
    pub(super) fn by_half_hour(&self) -> BTreeMap<HalfHour, Vec<u64>> {
        let mut half_hours: BTreeMap<HalfHour, Vec<u64>> = BTreeMap::new();
        for (id, half_hour) in &self.ids {
            half_hours.entry(*half_hour).or_default().push(*id);
        }
        half_hours
    }

    /// Returns true if outcomes of this time are counted, or are not to be.
    pub fn is_settled(&self, at: Timestamp) -> bool {
        at < self.settled_before
    }

    pub(super) fn contains(&self, id: u64) -> bool {
        self.ids.contains_key(&id)
    }

    /// Adds an outcome. Returns false if it is counted already.
    pub fn insert(&mut self, id: u64, at: Timestamp) -> bool {
        if self.is_settled(at) || self.ids.contains_key(&id) {
            return false;
        }
        self.ids.insert(id, HalfHour::of(at));
        true
    }

    /// Corrects a time in the future, with which nothing would be counted.
    pub fn clamp(&mut self, now: Timestamp) {
        if self.settled_before > now {
            self.settled_before = HalfHour::of(now).start();
        }
    }

    /// Forgets outcomes that are too old to become known again.
    pub fn prune(&mut self, now: Timestamp) {
        let oldest = HalfHour::of(now.saturating_sub(REMEMBERED).unwrap_or(Timestamp::MIN));
        self.forget_before(oldest);
        while self.ids.len() > MAX_IDS {
            let first = self.ids.values().min().copied();
            match first.filter(|first| *first < HalfHour::of(now)) {
                Some(first) => self.forget_before(first.next()),
                // More than the limit within this half hour: the rest could be counted again after a kill.
                None => while self.ids.len() > MAX_IDS && self.ids.pop_last().is_some() {},
            }
        }
    }

    fn forget_before(&mut self, half_hour: HalfHour) {
        self.settled_before = self.settled_before.max(half_hour.start());
        self.ids.retain(|_, at| *at >= half_hour);
    }
}

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

/// Selected rows; each unset part selects all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter<'a> {
    /// Whole half hours are counted, beginning with the one that contains this time.
    pub since: Option<Timestamp>,
    pub pool: Option<&'a str>,
    pub image: Option<&'a str>,
    /// Restricts failures only; joined nodes are what they compare with.
    pub cause: Option<&'a str>,
}

/// Nodes of one pool and image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Total {
    pub pool: String,
    pub image: String,
    pub joined: u64,
    /// Failures by cause; joined nodes are not in it.
    pub failed: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HalfHourCounts {
    /// Start of the half hour.
    pub at: Timestamp,
    pub joined: u64,
    /// Failures by cause; joined nodes are not in it.
    pub failed: BTreeMap<String, u64>,
}

impl CountsDocument {
    /// Returns totals by pool and image, sorted by both.
    pub fn totals(&self, filter: Filter<'_>) -> Vec<Total> {
        let mut totals: BTreeMap<(&str, &str), Total> = BTreeMap::new();
        for (_, key, count) in self.rows(filter) {
            let RowKey { pool, image, cause } = key;
            let total = totals.entry((pool, image)).or_insert_with(|| Total {
                pool: pool.clone(),
                image: image.clone(),
                joined: 0,
                failed: BTreeMap::new(),
            });
            tally(&mut total.joined, &mut total.failed, cause.as_deref(), count);
        }
        totals.into_values().collect()
    }

    /// Returns all half hours from the start of the selection through `until`, empty ones included.
    pub fn series(&self, filter: Filter<'_>, until: Timestamp) -> Vec<HalfHourCounts> {
        let first = self.half_hours.keys().next().copied();
        let start = HalfHour::of(filter.since.unwrap_or(self.since));
        let start = if filter.since.is_some() { start } else { first.unwrap_or(start).min(start) };
        // No more than are kept, also for a `since` of long ago.
        let last = HalfHour::of(until);
        let start = start.max(HalfHour(last.0 - KEPT.as_secs() / HALF_HOUR_SECONDS));
        let mut series: BTreeMap<HalfHour, HalfHourCounts> = (start.0..=last.0)
            .map(HalfHour)
            .map(|half_hour| {
                let at = half_hour.start();
                (half_hour, HalfHourCounts { at, joined: 0, failed: BTreeMap::new() })
            })
            .collect();
        for (half_hour, key, count) in self.rows(filter) {
            if let Some(counts) = series.get_mut(&half_hour) {
                tally(&mut counts.joined, &mut counts.failed, key.cause.as_deref(), count);
            }
        }
        series.into_values().collect()
    }

    fn rows<'a>(&'a self, filter: Filter<'a>) -> impl Iterator<Item = (HalfHour, &'a RowKey, u32)> {
        let start = filter.since.map_or(HalfHour(i64::MIN), HalfHour::of);
        let rows = self.half_hours.range(start..).flat_map(|(half_hour, rows)| {
            rows.iter().map(move |(key, count)| (*half_hour, key, *count))
        });
        let is_selected = |wanted: Option<&str>, name: &str| wanted.is_none_or(|one| one == name);
        rows.filter(move |(_, key, _)| {
            is_selected(filter.pool, &key.pool)
                && is_selected(filter.image, &key.image)
                && key.cause.as_deref().is_none_or(|cause| is_selected(filter.cause, cause))
        })
    }
}

fn tally(joined: &mut u64, failed: &mut BTreeMap<String, u64>, cause: Option<&str>, count: u32) {
    match cause {
        None => *joined += u64::from(count),
        Some(cause) => *failed.entry(cause.to_owned()).or_default() += u64::from(count),
    }
}
