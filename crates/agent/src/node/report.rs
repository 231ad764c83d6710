//! Results. A report for later boots: first the report, then the sentinel, each written to a temporary file, synced and
//! renamed, so that a sentinel implies a complete report. For `provision-wait`, the record of the process that provisions
//! and of its result: under `/run`, so it is valid for this boot only, with start time and boot id, since a pid is reused.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use mooring_contract::CseStatus;
use mooring_contract::json;
use mooring_redact::Redactor;
use serde::{Deserialize, Serialize};

use crate::format::checked;
use crate::node::inputs::MAX_FILE_BYTES;
use crate::node::paths::{Layout, REPORT, RUN_DIR, RUN_LOCK, RUN_RECORD, SENTINEL};
use crate::world::{ReadFailure, Replace, World};

/// Writes the report and then the sentinel, unless they exist; returns the fixed paths of files that could not
/// be written. Without its report the sentinel is not written, because the next boot would take it for a success,
/// unless `is_awaited`: a `provision-wait` has no other source.
pub(crate) fn leave(
    world: &mut dyn World,
    layout: &Layout,
    status: &CseStatus,
    is_awaited: bool,
) -> Vec<(&'static str, io::Error)> {
    let mut failed = Vec::new();
    let path = layout.at(REPORT);
    let report = status.to_json();
    // A report that the scripts could not write to its end is none.
    let written = if is_torn(world, layout) {
        replace(world, &path, report.as_bytes())
    } else {
        write_if_absent(world, &path, report.as_bytes())
    };
    failed.extend(written.err().map(|error| (REPORT, error)));
    if failed.is_empty() || is_awaited {
        let written = write_if_absent(world, &layout.at(SENTINEL), b"");
        failed.extend(written.err().map(|error| (SENTINEL, error)));
    }
    failed
}

/// The bytes of the node's report.
pub(crate) fn read_text(world: &mut dyn World, layout: &Layout) -> Result<Vec<u8>, ReadFailure> {
    world.read(&layout.at(REPORT), MAX_FILE_BYTES)
}

/// The node's report, if there is one that is whole.
pub(crate) fn read(world: &mut dyn World, layout: &Layout) -> Option<CseStatus> {
    let text = read_text(world, layout).ok()?;
    CseStatus::read(&text).ok().filter(|status| status.code().is_ok())
}

/// Returns true if the file is not a valid report, for example after a full disk.
pub(crate) fn is_torn(world: &mut dyn World, layout: &Layout) -> bool {
    world.kind(&layout.at(REPORT)).is_ok() && read(world, layout).is_none()
}

/// Mode of what only root may read.
const PRIVATE: u32 = 0o600;

/// Writes a file unless it exists, and creates missing directories. A broken link is replaced, never followed.
fn write_if_absent(world: &mut dyn World, path: &Path, bytes: &[u8]) -> io::Result<()> {
    if world.kind(path).is_ok() {
        return Ok(());
    }
    world.create_dir_all(path.parent().unwrap_or(path))?;
    let beside = beside(world, path);
    place(world, path, &beside, bytes, PRIVATE, |world| {
        match world.rename(&beside, path, Replace::No) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if world.kind(path).is_ok() {
                    return Ok(false);
                }
                world.rename(&beside, path, Replace::Yes).map(|()| true)
            }
            result => result.map(|()| true),
        }
    })
}

/// Replaces a file of this agent in one instant, and creates missing directories.
pub(crate) fn replace(world: &mut dyn World, path: &Path, bytes: &[u8]) -> io::Result<()> {
    world.create_dir_all(path.parent().unwrap_or(path))?;
    let beside = beside(world, path);
    replace_with(world, path, &beside, bytes, PRIVATE)
}

/// A temporary name that no other process uses.
fn beside(world: &dyn World, path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}", world.pid()))
}

/// Writes a temporary file, syncs it, and renames it: the target is replaced in one instant.
pub(crate) fn replace_with(
    world: &mut dyn World,
    path: &Path,
    beside: &Path,
    bytes: &[u8],
    mode: u32,
) -> io::Result<()> {
    place(world, path, beside, bytes, mode, |world| {
        world.rename(beside, path, Replace::Yes).map(|()| true)
    })
}

/// Writes a temporary file, which `rename` puts in place unless there is one; it never remains.
fn place(
    world: &mut dyn World,
    path: &Path,
    beside: &Path,
    bytes: &[u8],
    mode: u32,
    rename: impl FnOnce(&mut dyn World) -> io::Result<bool>,
) -> io::Result<()> {
    let placed = write_temporary(world, beside, bytes, mode).and_then(|()| rename(world));
    if !matches!(placed, Ok(true)) {
        let _ = world.remove(beside);
    }
    if placed? { world.sync(path.parent().unwrap_or(path)) } else { Ok(()) }
}

/// Writes a temporary file and syncs it. One that a killed process left is removed first.
pub(crate) fn write_temporary(
    world: &mut dyn World,
    path: &Path,
    bytes: &[u8],
    mode: u32,
) -> io::Result<()> {
    let _ = world.remove(path);
    world.write_new(path, bytes, mode)?;
    world.sync(path)
}

/// Larger than any record: a report has at most some 100 KiB, with every byte escaped twice.
const MAX_RECORD_BYTES: u64 = 1 << 20;

/// A process, by what no other process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Process {
    pub(crate) pid: u32,
    start_time: u64,
}

impl Process {
    fn of(world: &mut dyn World, pid: u32) -> Self {
        Self { pid, start_time: world.process_start(pid).unwrap_or_default() }
    }

    fn is_alive(self, world: &mut dyn World) -> bool {
        world.process_start(self.pid) == Some(self.start_time)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunningAgent {
    pub(crate) agent: Process,
    boot_id: String,
    pub(crate) scripts: Option<Process>,
    pub(crate) report: Option<String>,
}

/// Acquires the lock of this node and writes the record; `None` if another process has the lock.
pub(crate) fn claim(world: &mut dyn World, layout: &Layout) -> io::Result<Option<RunningAgent>> {
    world.create_dir_all(&layout.at(RUN_DIR))?;
    if !world.lock(&layout.at(RUN_LOCK))? {
        return Ok(None);
    }
    let pid = world.pid();
    let running = RunningAgent {
        agent: Process::of(world, pid),
        boot_id: world.boot_id().unwrap_or_default(),
        scripts: None,
        report: None,
    };
    running.write(world, layout)?;
    Ok(Some(running))
}

pub(crate) fn read_running(world: &mut dyn World, layout: &Layout) -> Option<RunningAgent> {
    let text = world.read(&layout.at(RUN_RECORD), MAX_RECORD_BYTES).ok()?;
    let running = serde_json::from_slice::<RunningAgent>(&text).ok()?;
    // A run directory that survived a reboot is not of this boot.
    (running.boot_id == world.boot_id().unwrap_or_default()).then_some(running)
}

/// True if a process that provisions this node lives.
pub(crate) fn is_live(world: &mut dyn World, layout: &Layout) -> bool {
    read_running(world, layout).is_some_and(|running| running.agent.is_alive(world))
}

impl RunningAgent {
    /// Returns the process to wait for; none for a finished run.
    pub(crate) fn awaited(&self, world: &mut dyn World) -> Option<Process> {
        if self.report.is_some() {
            return None;
        }
        [Some(self.agent), self.scripts]
            .into_iter()
            .flatten()
            .find(|process| process.is_alive(world))
    }

    pub(crate) fn scripts_started(
        &mut self,
        world: &mut dyn World,
        layout: &Layout,
        pid: u32,
    ) -> io::Result<()> {
        self.scripts = Some(Process::of(world, pid));
        self.write(world, layout)
    }

    pub(crate) fn write(&self, world: &mut dyn World, layout: &Layout) -> io::Result<()> {
        let record = serde_json::to_vec(self)?;
        replace(world, &layout.at(RUN_RECORD), &record)
    }
}

/// Returns a report of the scripts with a mask in place of every known and every likely secret. Of a JSON document
/// only the strings that hold one change, so that it remains valid.
pub(crate) fn redact_report(redactor: &Redactor, report: &[u8]) -> Vec<u8> {
    let report = redactor.redact_bytes(report);
    if checked(&report).is_err() {
        return redactor.mask_likely(&json::lossy(&report)).into_bytes();
    }
    let mut out = Vec::with_capacity(report.len());
    let mut rest = &*report;
    // Outside of strings, JSON has no quotes.
    while let Some(start) = rest.iter().position(|&byte| byte == b'"') {
        let (before, string) = rest.split_at(start);
        out.extend_from_slice(before);
        let length = string_length(string);
        let (string, behind) = string.split_at(length);
        out.extend_from_slice(&redact_string(redactor, string));
        rest = behind;
    }
    out.extend_from_slice(rest);
    out
}

/// A string of JSON, quotes included.
fn redact_string<'s>(redactor: &Redactor, string: &'s [u8]) -> Cow<'s, [u8]> {
    let Ok(text) = json::Reader::new(string, json::Dialect::Go).string() else {
        return Cow::Borrowed(string);
    };
    let redacted = redactor.mask_likely(&text);
    if redacted == *text {
        return Cow::Borrowed(string);
    }
    let mut quoted = String::from("\"");
    json::escape_into(&mut quoted, &redacted, json::Escape::HtmlReplaced);
    quoted.push('"');
    Cow::Owned(quoted.into_bytes())
}

/// Returns the length of the string of JSON at the start of `text`, quotes included.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_keeps_its_shape_and_loses_its_secrets() {
        let redactor = Redactor::new(["known-secret-value"]);
        let report = br#"{ "ExitCode": "50",  "Output": "+ TOKEN=hunter-two\n+ x \u003cknown-secret-value", "BootDatapoints": {"A": "\u003c"} }"#;
        let shown = String::from_utf8(redact_report(&redactor, report)).unwrap();
        assert_eq!(
            shown,
            r#"{ "ExitCode": "50",  "Output": "+ TOKEN=[secret]\n+ x \u003c[secret]", "BootDatapoints": {"A": "\u003c"} }"#
        );
        let plain = br#"{"ExitCode":"0","Output":"a\/b \u00e9","Error":""}"#;
        assert_eq!(redact_report(&redactor, plain), plain);
        assert_eq!(
            redact_report(&redactor, b"not json TOKEN=hunter-two"),
            b"not json TOKEN=[secret]"
        );
        assert_eq!(redact_report(&redactor, b""), b"");
    }
}
