//! Reader of reports from any source.

use std::collections::BTreeMap;

use super::status::CseStatus;
use super::timings::{Timings, each_timing};
use crate::json::{Dialect, Error, MAX_DEPTH, Position, Reader, ValueKind};

/// A text that is not a report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} ({position})", error.problem)]
pub struct ReadError {
    error: Error,
    position: Position,
}

impl CseStatus {
    /// Reads a JSON object: names in any case, strings or numbers, the last duplicate wins; other members are ignored.
    pub fn read(text: &[u8]) -> Result<Self, ReadError> {
        read_document(text)
            .map_err(|error| ReadError { position: Position::of(error.offset, text), error })
    }
}

fn read_document(text: &[u8]) -> Result<CseStatus, Error> {
    let mut reader = Reader::new(text, Dialect::Go);
    let mut status = CseStatus::default();
    let mut members = reader.object()?;
    while let Some(name) = members.next(&mut reader)? {
        read_member(&mut reader, &name.text, &mut status)?;
    }
    reader.end()?;
    Ok(status)
}

fn read_member(reader: &mut Reader<'_>, name: &str, status: &mut CseStatus) -> Result<(), Error> {
    let is = |wanted: &str| name.eq_ignore_ascii_case(wanted);
    if is("BootDatapoints") && reader.peek()? == ValueKind::Object {
        status.timings.boot_datapoints = read_datapoints(reader)?;
        return Ok(());
    }
    let Some(value) = read_scalar(reader)? else { return Ok(()) };
    if is("ExitCode") {
        status.exit_code = value;
    } else if is("Error") {
        status.error = value;
    } else if is("Output") {
        status.output = value;
    } else if is("Diagnosis") {
        status.diagnosis = value;
    } else if is("Hotfix") {
        status.hotfix = value;
    } else if let Some(timing) = timing_named(&mut status.timings, name) {
        *timing = Some(value);
    }
    Ok(())
}

fn timing_named<'a>(timings: &'a mut Timings, name: &str) -> Option<&'a mut Option<String>> {
    macro_rules! find {
        ($($wanted:literal $field:ident,)+) => {
            $( if name.eq_ignore_ascii_case($wanted) { return Some(&mut timings.$field); } )+
        };
    }
    each_timing!(find);
    None
}

fn read_datapoints(reader: &mut Reader<'_>) -> Result<BTreeMap<String, String>, Error> {
    let mut datapoints = BTreeMap::new();
    let mut members = reader.object()?;
    while let Some(name) = members.next(reader)? {
        if let Some(value) = read_scalar(reader)? {
            datapoints.insert(name.text.into_owned(), value);
        }
    }
    Ok(datapoints)
}

/// Reads a string, or a number as its text; other values are skipped.
fn read_scalar(reader: &mut Reader<'_>) -> Result<Option<String>, Error> {
    match reader.peek()? {
        ValueKind::String => Ok(Some(reader.string()?.into_owned())),
        ValueKind::Number => Ok(Some(reader.number()?.to_owned())),
        _ => reader.skip(MAX_DEPTH).map(|()| None),
    }
}
