//! Records as lines, in their order.

use jiff::Timestamp;
use serde_json::Value;
use thiserror::Error;

use super::record::{Content, Record};
use crate::approval::canonical;

/// A journal that cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JournalError {
    #[error("record {0} of the journal is invalid: {1}")]
    Unreadable(u64, String),
    /// Written by an unknown version.
    #[error("record {0} of the journal has the schema '{1}'; this version supports {2}")]
    Schema(u64, String, &'static str),
    #[error("record {0} of the journal does not follow the one before it")]
    Broken(u64),
    #[error("record {0} of the journal is out of place: {1}")]
    OutOfPlace(u64, &'static str),
}

/// Returns the record that follows `last`.
pub fn follow<E: Content>(
    last: Option<&Record<E>>,
    run: &str,
    at: Timestamp,
    entry: E,
) -> Record<E> {
    Record {
        schema: E::SCHEMA.to_owned(),
        seq: last.map_or(0, |last| last.seq.saturating_add(1)),
        run: run.to_owned(),
        at,
        entry,
    }
}

/// Returns a record as a line.
pub fn encode<E: Content>(record: &Record<E>) -> String {
    let value = serde_json::to_value(record).unwrap_or_default();
    let mut line = canonical::canonical(&value);
    line.push('\n');
    line
}

/// Returns the records of a text, which must be whole lines that follow each other.
pub fn decode<E: Content>(text: &str) -> Result<Vec<Record<E>>, JournalError> {
    let lines = text.split_inclusive('\n').zip(0..);
    let records: Vec<_> =
        lines.map(|(line, index)| decode_line(line, index)).collect::<Result<_, _>>()?;
    verify(&records)?;
    Ok(records)
}

fn decode_line<E: Content>(line: &str, at: u64) -> Result<Record<E>, JournalError> {
    // Never the text itself: an edited journal may contain anything.
    let unreadable = |error: serde_json::Error| {
        let why = match error.column() {
            0 => "unknown kind of record".to_owned(),
            column => format!("not JSON at column {column}"),
        };
        JournalError::Unreadable(at, why)
    };
    let value: Value = serde_json::from_str(line).map_err(unreadable)?;
    let schema = value.get("schema").and_then(Value::as_str).unwrap_or_default();
    if schema != E::SCHEMA {
        return Err(JournalError::Schema(at, mooring_redact::identifier(schema), E::SCHEMA));
    }
    serde_json::from_value(value).map_err(unreadable)
}

/// Checks that the records follow each other. The first may follow one that was dropped.
pub fn verify<E>(records: &[Record<E>]) -> Result<(), JournalError> {
    for pair in records.windows(2) {
        if Some(pair[1].seq) != pair[0].seq.checked_add(1) {
            return Err(JournalError::Broken(pair[1].seq));
        }
    }
    Ok(())
}
