//! A journal in the target cluster, so that a pipeline host that dies is no loss.

use crate::journal::{Content, JournalError, Record, Tail, decode, encode, verify};

/// How much goes into one object: 256 KiB. Every record rewrites the last object, so that it must stay small; a usual
/// run has 100 KiB. The API server would refuse more than 1 MiB.
pub const SEGMENT_BYTES: usize = 262_144;

/// The text of one `ConfigMap`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its number; the object's name ends with it.
    pub index: usize,
    pub text: String,
}

/// Cuts a journal into objects, between records and none above `limit` unless one record alone is.
pub fn split<E: Content>(records: &[Record<E>], limit: usize) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for line in records.iter().map(encode) {
        match segments.last_mut() {
            Some(last) if last.text.len() + line.len() <= limit => last.text.push_str(&line),
            _ => segments.push(Segment { index: segments.len(), text: line }),
        }
    }
    segments
}

/// Joins segments, in any order, to a checked journal.
pub fn join<E: Content>(mut segments: Vec<Segment>) -> Result<Vec<Record<E>>, JournalError> {
    segments.sort_by_key(|segment| segment.index);
    let text: String = segments.into_iter().map(|segment| segment.text).collect();
    let records = decode(&text, Tail::Whole)?;
    verify(&records)?;
    Ok(records)
}
