//! Retention of old runs.

use super::record::{Entry, Record};
use crate::model::types::Types;

/// Returns the number of records to keep when a new run starts: those of the last `runs` runs, and of all runs since the
/// first one that `is_needed`.
pub fn retained<W: Types>(
    records: &[Record<Entry<W>>],
    runs: usize,
    is_needed: impl Fn(&str) -> bool,
) -> usize {
    let begins = |(at, record): (usize, &Record<Entry<W>>)| {
        matches!(record.entry, Entry::RunStarted(_)).then_some((at, record.run.clone()))
    };
    let starts: Vec<(usize, String)> = records.iter().enumerate().filter_map(begins).collect();
    let recent = starts.len().saturating_sub(runs);
    let first = starts.iter().enumerate().find(|(nth, (_, run))| *nth >= recent || is_needed(run));
    records.len() - first.map_or(0, |(_, (at, _))| *at)
}
