//! Bootstrap report of a node: the JSON in `provision.json`, which the Custom Script
//! Extension returns to Azure in its `[stdout]`.
//!
//! The reader is lenient, since three generations of scripts have written it; the writer is exact, since
//! other tools read it.

use std::collections::BTreeMap;

use crate::json::{
    Dialect, Error, Escape, JsonLayout, MAX_DEPTH, Position, Reader, ValueKind, Writer, escaped_len,
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CseStatus {
    /// A decimal number, as text. See [`Self::code`].
    pub exit_code: String,
    /// The error; Mooring's reports start it with the code's name.
    pub error: String,
    /// The end of the bootstrap's output.
    pub output: String,
    /// The cause; only Mooring's reports contain it.
    pub diagnosis: String,
    /// Agent and scripts in use, if a hotfix is active: `binary=… scripts=…`.
    pub hotfix: String,
    /// Empty in reports that the agent writes.
    pub timings: Timings,
}

/// The reason why a report has no usable exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoCode {
    #[error("the report has no exit code")]
    Missing,
    #[error("the report's exit code is not a whole number")]
    NotANumber,
}

impl CseStatus {
    pub fn code(&self) -> Result<i64, NoCode> {
        match self.exit_code.as_str() {
            "" => Err(NoCode::Missing),
            text => text.parse().map_err(|_| NoCode::NotANumber),
        }
    }
}

/// Start times, as the bootstrap scripts write them. Every member is optional.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Timings {
    /// Duration of the scripts in seconds.
    pub exec_duration: Option<String>,
    pub kernel_start_time: Option<String>,
    pub cloud_init_local_start_time: Option<String>,
    pub cloud_init_start_time: Option<String>,
    pub cloud_final_start_time: Option<String>,
    pub networkd_start_time: Option<String>,
    pub cse_start_time: Option<String>,
    pub guest_agent_start_time: Option<String>,
    /// Output of `systemd-analyze` on one line.
    pub systemd_summary: Option<String>,
    /// The main times again, and `KubeletStartTime`.
    pub boot_datapoints: BTreeMap<String, String>,
}

/// The text members of [`Timings`], by the names and in the order of the scripts.
macro_rules! each_timing {
    ($visit:ident) => {
        $visit! {
            "ExecDuration" exec_duration,
            "KernelStartTime" kernel_start_time,
            "CloudInitLocalStartTime" cloud_init_local_start_time,
            "CloudInitStartTime" cloud_init_start_time,
            "CloudFinalStartTime" cloud_final_start_time,
            "NetworkdStartTime" networkd_start_time,
            "CSEStartTime" cse_start_time,
            "GuestAgentStartTime" guest_agent_start_time,
            "SystemdSummary" systemd_summary,
        }
    };
}

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

/// The escapes of the upstream Go agent and of the extension handler.
pub(super) const ESCAPE: Escape = Escape::HtmlReplaced;

impl CseStatus {
    /// Returns the report as one line without a line end. `ExitCode`, `Error` and `Output` are always
    /// written, in this order; other members only if they are not empty.
    pub fn to_json(&self) -> String {
        let mut writer = Writer::new(JsonLayout::Compact, ESCAPE);
        writer.open_object();
        write_member(&mut writer, "ExitCode", &self.exit_code);
        write_member(&mut writer, "Error", &self.error);
        write_member(&mut writer, "Output", &self.output);
        if !self.diagnosis.is_empty() {
            write_member(&mut writer, "Diagnosis", &self.diagnosis);
        }
        if !self.hotfix.is_empty() {
            write_member(&mut writer, "Hotfix", &self.hotfix);
        }
        write_timings(&mut writer, &self.timings);
        writer.close_object();
        writer.finish()
    }
}

fn write_timings(writer: &mut Writer, timings: &Timings) {
    macro_rules! write_each {
        ($($name:literal $field:ident,)+) => {
            $( if let Some(value) = &timings.$field { write_member(writer, $name, value); } )+
        };
    }
    each_timing!(write_each);
    if !timings.boot_datapoints.is_empty() {
        writer.name("BootDatapoints");
        writer.open_object();
        for (name, value) in &timings.boot_datapoints {
            write_member(writer, name, value);
        }
        writer.close_object();
    }
}

fn write_member(writer: &mut Writer, name: &str, value: &str) {
    writer.name(name);
    writer.string(value);
}

/// The Custom Script Extension keeps the last 4,096 bytes of a command's output. A longer
/// report loses its *head*, and with it the exit code.
pub const EXTENSION_WINDOW: usize = 4096;

/// A decimal number of 64 bits and its sign: no usable exit code is longer.
const MAX_CODE_LEN: usize = 20;

impl CseStatus {
    /// Returns the report as one line with its line end, in at most `limit` bytes.
    ///
    /// A report that fits is unchanged. Otherwise `Output` loses its beginning (the failure is at its end), then
    /// `Diagnosis` and then `Error` lose their end, as far as needed; timings are dropped only if the report would not
    /// fit otherwise. The result is always valid JSON with `ExitCode` first, even where `limit` is too small for that.
    pub fn fit(&self, limit: usize) -> String {
        let excess = |status: &Self| line_len(status).saturating_sub(limit);
        if excess(self) == 0 {
            return line(self);
        }
        let mut status = self.clone();
        if line_len(&status.without_texts()) > limit {
            status.timings = Timings::default();
            status.hotfix.clear();
            // Formatted again, so that leading zeros cannot displace the code's digits.
            if let Ok(code) = status.code() {
                status.exit_code = code.to_string();
            }
            status.exit_code.truncate(status.exit_code.floor_char_boundary(MAX_CODE_LEN));
        }
        status.output = without_front(&status.output, excess(&status)).to_owned();
        status.diagnosis = without_back(&status.diagnosis, excess(&status)).to_owned();
        status.error = without_back(&status.error, excess(&status)).to_owned();
        line(&status)
    }

    fn without_texts(&self) -> Self {
        Self {
            exit_code: self.exit_code.clone(),
            hotfix: self.hotfix.clone(),
            timings: self.timings.clone(),
            ..Self::default()
        }
    }
}

fn line(status: &CseStatus) -> String {
    status.to_json() + "\n"
}

fn line_len(status: &CseStatus) -> usize {
    line(status).len()
}

/// Returns the end of a text, shorter by at least `excess` bytes as written.
fn without_front(text: &str, excess: usize) -> &str {
    &text[cut(text.chars(), excess)..]
}

/// Returns the beginning of a text, shorter by at least `excess` bytes as written.
fn without_back(text: &str, excess: usize) -> &str {
    &text[..text.len() - cut(text.chars().rev(), excess)]
}

/// Returns the number of bytes of text to drop so that at least `excess` written bytes are dropped.
fn cut(characters: impl Iterator<Item = char>, excess: usize) -> usize {
    let mut dropped = 0;
    let mut saved = 0;
    for character in characters {
        if saved >= excess {
            break;
        }
        dropped += character.len_utf8();
        saved += escaped_len(character, ESCAPE);
    }
    dropped
}
