//! Context of every command: the world, the paths, the log and the events.

use std::time::SystemTime;

use mooring_redact::Redactor;

use super::log::LogValue::{self, Text};
use super::log::{Level, Log};
use super::paths::{EVENTS_DIR, LOG_FILE, Layout};
use crate::format::event::{EventLevel, Task, event_json};
use crate::format::go_text::path_error;
use crate::format::time::{TimeFormat, unix_nanoseconds};
use crate::world::World;

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
        self.record(Level::Info, message, attributes);
    }

    pub(crate) fn warn(&mut self, message: &str, attributes: &[(&str, LogValue<'_>)]) {
        self.record(Level::Warn, message, attributes);
    }

    pub(crate) fn error(&mut self, message: &str, attributes: &[(&str, LogValue<'_>)]) {
        self.record(Level::Error, message, attributes);
    }

    fn record(&mut self, level: Level, message: &str, attributes: &[(&str, LogValue<'_>)]) {
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
        self.info("aks-node-controller started", &[("task", Text(task.as_str()))]);
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
