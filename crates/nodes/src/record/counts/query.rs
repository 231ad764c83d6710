//! Totals and time series from the counts.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::document::{CountsDocument, KEPT, RowKey};
use super::half_hour::{HALF_HOUR_SECONDS, HalfHour};

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
            add(&mut total.joined, &mut total.failed, cause.as_deref(), count);
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
                add(&mut counts.joined, &mut counts.failed, key.cause.as_deref(), count);
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

fn add(joined: &mut u64, failed: &mut BTreeMap<String, u64>, cause: Option<&str>, count: u32) {
    match cause {
        None => *joined += u64::from(count),
        Some(cause) => *failed.entry(cause.to_owned()).or_default() += u64::from(count),
    }
}
