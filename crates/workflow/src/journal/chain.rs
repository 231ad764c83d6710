//! Records as lines, and the chain that holds them together.

use jiff::Timestamp;
use serde_json::Value;
use thiserror::Error;

use super::record::{Content, Record};
use crate::canonical;

/// A journal that cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JournalError {
    /// A line is not a record.
    #[error("record {0} of the journal cannot be read: {1}")]
    Unreadable(u64, String),
    /// A record was written by a version that this one does not know.
    #[error("record {0} of the journal has the schema '{1}'; this version reads {2}")]
    Schema(u64, String, &'static str),
    /// A record does not have the hash that it says.
    #[error("record {0} of the journal was changed after it was written")]
    Changed(u64),
    /// A record does not follow the one before it.
    #[error("record {0} of the journal does not follow the one before it")]
    Broken(u64),
    /// A record makes no sense at its place.
    #[error("record {0} of the journal makes no sense there: {1}")]
    Senseless(u64, &'static str),
}

/// How the end of a journal is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// Every line must be whole.
    Whole,
    /// A last line without its end was being written when the machine died: it never counted.
    MayBeTorn,
}

/// The record that follows `last`.
pub fn follow<E: Content>(
    last: Option<&Record<E>>,
    run: &str,
    at: Timestamp,
    entry: E,
) -> Record<E> {
    let mut record = Record {
        schema: E::SCHEMA.to_owned(),
        seq: last.map_or(0, |last| last.seq.saturating_add(1)),
        run: run.to_owned(),
        at,
        prev: last.map_or_else(String::new, |last| last.hash.clone()),
        entry,
        hash: String::new(),
    };
    record.hash = hash_of(serde_json::to_value(&record).unwrap_or_default());
    record
}

fn hash_of(mut record: Value) -> String {
    if let Some(members) = record.as_object_mut() {
        members.remove("hash");
    }
    canonical::hash(&record)
}

/// A record as a line, with its end.
pub fn encode<E: Content>(record: &Record<E>) -> String {
    let value = serde_json::to_value(record).unwrap_or_default();
    let mut line = canonical::canonical(&value);
    line.push('\n');
    line
}

/// The records of a text. Each line is checked by itself; [`verify`] checks that they follow each other.
pub fn decode<E: Content>(text: &str, tail: Tail) -> Result<Vec<Record<E>>, JournalError> {
    let mut records = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if tail == Tail::MayBeTorn && !line.ends_with('\n') {
            break;
        }
        records.push(decode_line(line, index as u64)?);
    }
    Ok(records)
}

fn decode_line<E: Content>(line: &str, at: u64) -> Result<Record<E>, JournalError> {
    // Never the text itself in an error: a journal may be shown to people.
    let unreadable = |error: serde_json::Error| {
        let why = match error.column() {
            0 => "this version does not know such a record".to_owned(),
            column => format!("it is no record of a journal from column {column} on"),
        };
        JournalError::Unreadable(at, why)
    };
    let value: Value = serde_json::from_str(line).map_err(unreadable)?;
    let schema = value.get("schema").and_then(Value::as_str).unwrap_or_default();
    if schema != E::SCHEMA {
        return Err(JournalError::Schema(at, mooring_redact::identifier(schema), E::SCHEMA));
    }
    let said = value.get("hash").and_then(Value::as_str).unwrap_or_default().to_owned();
    if hash_of(value.clone()) != said {
        return Err(JournalError::Changed(at));
    }
    serde_json::from_value(value).map_err(unreadable)
}

/// Checks that the records follow each other. The first may follow one that was archived.
pub fn verify<E>(records: &[Record<E>]) -> Result<(), JournalError> {
    for pair in records.windows(2) {
        if Some(pair[1].seq) != pair[0].seq.checked_add(1) || pair[1].prev != pair[0].hash {
            return Err(JournalError::Broken(pair[1].seq));
        }
    }
    match records.first() {
        Some(first) if (first.seq == 0) != first.prev.is_empty() => {
            Err(JournalError::Broken(first.seq))
        }
        _ => Ok(()),
    }
}
