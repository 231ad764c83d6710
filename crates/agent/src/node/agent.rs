//! Context of every command: the world, the paths, the log (one JSON object a line, in a file and on standard error) and
//! the events that the guest agent carries to Azure.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use mooring_contract::json::{Escape, JsonLayout, Writer};
use mooring_redact::Redactor;

use crate::format::{path_error, write_member};
use crate::node::agent::LogValue::Text;
use crate::node::paths::{EVENTS_DIR, FALLBACK_LOG_FILE, LOG_FILE, Layout};
use crate::world::{Stream, World};

/// Mode of what every account may read.
const PUBLIC: u32 = 0o644;

pub(crate) struct Agent<'w> {
    pub(crate) world: &'w mut dyn World,
    pub(crate) layout: Layout,
    /// Applied to all output of the agent.
    pub(crate) redactor: Redactor,
    pub(crate) version: &'static str,
    log: Log,
    /// Read when the first stamp is needed.
    clock: Option<TimeFormat>,
}

impl<'w> Agent<'w> {
    pub(crate) fn new(
        world: &'w mut dyn World,
        layout: Layout,
        log: Log,
        version: &'static str,
    ) -> Self {
        Self { world, layout, redactor: Redactor::none(), version, log, clock: None }
    }

    pub(crate) fn info(&mut self, message: &str, attributes: &[(&str, LogValue<'_>)]) {
        self.record("INFO", message, attributes);
    }

    pub(crate) fn warn(&mut self, message: &str, attributes: &[(&str, LogValue<'_>)]) {
        self.record("WARN", message, attributes);
    }

    pub(crate) fn error(&mut self, message: &str, attributes: &[(&str, LogValue<'_>)]) {
        self.record("ERROR", message, attributes);
    }

    fn record(&mut self, level: &str, message: &str, attributes: &[(&str, LogValue<'_>)]) {
        let clock = self.clock();
        let Self { world, redactor, log, .. } = self;
        log.write(*world, &clock, redactor, level, message, attributes);
    }

    fn clock(&mut self) -> TimeFormat {
        let Self { world, clock, .. } = self;
        clock.get_or_insert_with(|| TimeFormat::local(*world)).clone()
    }

    /// Writes an event for the guest agent. A failure is only logged.
    pub(crate) fn event(
        &mut self,
        task: Task,
        level: EventLevel,
        message: &str,
        start: SystemTime,
    ) {
        let end = self.world.now();
        let message = self.redactor.redact(message).into_owned();
        let json = event_json(task, level, &message, (start, end), &self.clock());
        let file = format!("{EVENTS_DIR}/{}.json", unix_nanoseconds(end));
        let written = match self.world.create_dir_all(&self.layout.at(EVENTS_DIR)) {
            Ok(()) => self
                .world
                .write_new(&self.layout.at(&file), json.as_bytes(), PUBLIC)
                .map_err(|error| path_error("open", file.as_ref(), &error)),
            Err(error) => Err(path_error("mkdir", EVENTS_DIR.as_ref(), &error)),
        };
        if let Err(error) = written {
            self.error("failed to write event file", &[("error", Text(&error))]);
        }
    }

    /// The first record and event of a command.
    pub(crate) fn started(&mut self, task: Task) -> SystemTime {
        self.info("aks-node-controller started", &[("task", Text(&format!("{task:?}")))]);
        if !self.log.has_file() {
            self.warn(
                "the log file is not a regular file; logging to standard error only",
                &[("path", Text(LOG_FILE))],
            );
        }
        let start = self.world.now();
        self.event(task, EventLevel::Informational, "Starting", start);
        start
    }

    /// The last event and record of a command.
    pub(crate) fn finished(&mut self, task: Task, start: SystemTime, error: Option<&str>) {
        match error {
            None => {
                self.event(task, EventLevel::Informational, "Completed", start);
                self.info("aks-node-controller finished successfully.", &[]);
            }
            Some(error) => {
                let message = format!("aks-node-controller exited with error {error}");
                self.event(task, EventLevel::Error, &message, start);
                self.error("aks-node-controller failed", &[("error", Text(error))]);
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum LogValue<'a> {
    Text(&'a str),
    Number(i64),
    Null,
}

pub(crate) struct Log {
    /// `None` if something other than a regular file has the log's name: then records go to standard error alone.
    file: Option<PathBuf>,
}

impl Log {
    /// Opens the log; the error is for users.
    pub(crate) fn open(world: &mut dyn World, layout: &Layout) -> Result<Self, String> {
        let wanted = layout.at(LOG_FILE);
        let folder = wanted.parent().unwrap_or(&wanted);
        let file = match world.create_dir_all(folder) {
            Ok(()) => wanted.clone(),
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                return Ok(Self { file: None });
            }
            Err(_) => PathBuf::from(FALLBACK_LOG_FILE),
        };
        // Nothing is written, but the file is created, with the mode it must have.
        match world.append(&file, b"") {
            Ok(()) => Ok(Self { file: Some(file) }),
            // A link or a FIFO must not stop the boot.
            Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(Self { file: None }),
            Err(error) => {
                let shown = if file == wanted { LOG_FILE } else { FALLBACK_LOG_FILE };
                let error = path_error("open", shown.as_ref(), &error);
                Err(format!("failed to open log file: {error}"))
            }
        }
    }

    pub(crate) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Writes a record, also to standard error. A full disk must not end a bootstrap.
    pub(crate) fn write(
        &self,
        world: &mut dyn World,
        clock: &TimeFormat,
        redactor: &Redactor,
        level: &str,
        message: &str,
        attributes: &[(&str, LogValue<'_>)],
    ) {
        let mut record = Writer::new(JsonLayout::Compact, Escape::Log);
        record.open_object();
        write_member(&mut record, "time", &clock.log_stamp(world.now()));
        write_member(&mut record, "level", level);
        write_member(&mut record, "msg", &redactor.redact(message));
        for (name, value) in attributes {
            record.name(name);
            match value {
                LogValue::Text(text) => record.string(&redactor.redact(text)),
                LogValue::Number(number) => record.integer(*number),
                LogValue::Null => record.raw("null"),
            }
        }
        record.close_object();
        let line = record.finish() + "\n";
        if let Some(file) = &self.file {
            let _ = world.append(file, line.as_bytes());
        }
        world.print(Stream::Err, line.as_bytes());
    }
}

/// A command in the events, which have its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    Provision,
    ProvisionWait,
    CompareEnvs,
    RegistryLogin,
    CheckHotfix,
    DownloadHotfix,
    Hotfix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventLevel {
    Informational,
    Error,
}

/// Returns an event file's content: one line without a line end, keys in the guest agent's order.
pub(crate) fn event_json(
    task: Task,
    level: EventLevel,
    message: &str,
    (start, end): (SystemTime, SystemTime),
    clock: &TimeFormat,
) -> String {
    let milliseconds = end.duration_since(start).unwrap_or_default().as_millis();
    let (start, end) = (clock.event_stamp(start), clock.event_stamp(end));
    let separator = if message.is_empty() { "" } else { " | " };
    let message =
        format!("{message}{separator}startTime={start} endTime={end} durationMs={milliseconds}");
    let (level, task) = (format!("{level:?}"), format!("AKS.AKSNodeController.{task:?}"));
    let mut event = Writer::new(JsonLayout::Compact, Escape::HtmlReplaced);
    event.open_object();
    for (name, value) in [
        ("Timestamp", start.as_str()),
        ("OperationId", &end),
        ("Version", "1.23"),
        ("TaskName", &task),
        ("EventLevel", &level),
        ("Message", &message),
        ("EventPid", "0"),
        ("EventTid", "0"),
    ] {
        write_member(&mut event, name, value);
    }
    event.close_object();
    event.finish()
}

/// Larger than any zone's file.
const MAX_ZONE_BYTES: u64 = 64 * 1024;

/// Turns instants into the texts that logs and events carry.
#[derive(Debug, Clone)]
pub(crate) struct TimeFormat {
    zone: TimeZone,
}

impl TimeFormat {
    /// Returns the time zone: `TZ`, else the host's, else UTC.
    pub(crate) fn local(world: &mut dyn World) -> Self {
        let file = match world.variable("TZ") {
            None => PathBuf::from("/etc/localtime"),
            Some(name) => {
                let name = name.to_string_lossy();
                Path::new("/usr/share/zoneinfo").join(name.trim_start_matches(':'))
            }
        };
        let zone = world.read(&file, MAX_ZONE_BYTES).ok();
        let zone = zone.and_then(|rules| TimeZone::tzif("local", &rules).ok());
        Self { zone: zone.unwrap_or(TimeZone::UTC) }
    }

    /// Formats `2026-11-15T02:15:28.123456789Z`, without trailing zeros.
    pub(crate) fn log_stamp(&self, instant: SystemTime) -> String {
        let stamp = self.zoned(instant).strftime("%Y-%m-%dT%H:%M:%S%.f%:z").to_string();
        match stamp.strip_suffix("+00:00") {
            Some(utc) => format!("{utc}Z"),
            None => stamp,
        }
    }

    /// `2026-11-15 02:15:28.123`, cut, not rounded.
    pub(crate) fn event_stamp(&self, instant: SystemTime) -> String {
        self.zoned(instant).strftime("%Y-%m-%d %H:%M:%S.%3f").to_string()
    }

    fn zoned(&self, instant: SystemTime) -> Zoned {
        Timestamp::try_from(instant).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(self.zone.clone())
    }
}

/// Nanoseconds since 1970, for names of event files.
pub(crate) fn unix_nanoseconds(instant: SystemTime) -> u128 {
    instant.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn instant(nanoseconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(nanoseconds)
    }

    #[test]
    fn log_stamps_have_no_zeros_at_the_end() {
        let clock = TimeFormat { zone: TimeZone::UTC };
        assert_eq!(clock.log_stamp(instant(1_000_000_000)), "1970-01-01T00:00:01Z");
        assert_eq!(clock.log_stamp(instant(1_120_000_000)), "1970-01-01T00:00:01.12Z");
        assert_eq!(clock.log_stamp(instant(1_000_000_007)), "1970-01-01T00:00:01.000000007Z");
    }

    #[test]
    fn stamps_show_the_zone_of_the_machine() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let clock = TimeFormat { zone };
        assert_eq!(clock.log_stamp(instant(500_000_000)), "1970-01-01T02:00:00.5+02:00");
        assert_eq!(clock.event_stamp(instant(999_999_999)), "1970-01-01 02:00:00.999");
    }
}
