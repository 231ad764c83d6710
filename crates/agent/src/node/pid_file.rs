//! Record of the process that provisions, and of its result, for `provision-wait`.
//!
//! The record is under `/run`, so it is valid for this boot only. A pid is reused, so it is stored with the start
//! time and the boot id.

use std::io;

use mooring_contract::json::{Dialect, Escape, JsonLayout, MAX_DEPTH, Reader, ValueKind, Writer};

use super::paths::{Layout, RUN_DIR, RUN_LOCK, RUN_RECORD};
use super::report;
use crate::format::json::{members, write_member};
use crate::world::World;

/// Larger than any record: a report has at most some 100 KiB, with every byte escaped twice.
const MAX_RECORD_BYTES: u64 = 1 << 20;

/// A process, by what no other process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    start: u64,
}

impl Process {
    fn of(world: &mut dyn World, pid: u32) -> Self {
        Self { pid, start: world.process_start(pid).unwrap_or_default() }
    }

    fn is_alive(self, world: &mut dyn World) -> bool {
        world.process_start(self.pid) == Some(self.start)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunningAgent {
    pub(crate) agent: Process,
    boot_id: String,
    pub(crate) scripts: Option<Process>,
    pub(crate) report: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LockResult {
    Ours(RunningAgent),
    /// Held by another process; its pid, if recorded.
    TakenBy(Option<u32>),
}

/// Acquires the lock of this node and writes the record.
pub(crate) fn claim(world: &mut dyn World, layout: &Layout) -> io::Result<LockResult> {
    world.create_dir_all(&layout.at(RUN_DIR))?;
    if !world.lock(&layout.at(RUN_LOCK))? {
        return Ok(LockResult::TakenBy(read(world, layout).map(|running| running.agent.pid)));
    }
    let pid = world.pid();
    let running = RunningAgent {
        agent: Process::of(world, pid),
        boot_id: world.boot_id().unwrap_or_default(),
        scripts: None,
        report: None,
    };
    running.write(world, layout)?;
    Ok(LockResult::Ours(running))
}

pub(crate) fn read(world: &mut dyn World, layout: &Layout) -> Option<RunningAgent> {
    let text = world.read(&layout.at(RUN_RECORD), MAX_RECORD_BYTES).ok()?;
    let running = RunningAgent::from_json(&text)?;
    // A run directory that survived a reboot is not of this boot.
    (running.boot_id == world.boot_id().unwrap_or_default()).then_some(running)
}

/// True if a process that provisions this node lives.
pub(crate) fn is_live(world: &mut dyn World, layout: &Layout) -> bool {
    read(world, layout).is_some_and(|running| running.agent.is_alive(world))
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

    pub(crate) fn ended(
        &mut self,
        world: &mut dyn World,
        layout: &Layout,
        report: String,
    ) -> io::Result<()> {
        self.report = Some(report);
        self.write(world, layout)
    }

    fn write(&self, world: &mut dyn World, layout: &Layout) -> io::Result<()> {
        report::replace(world, &layout.at(RUN_RECORD), self.to_json().as_bytes())
    }

    fn to_json(&self) -> String {
        let mut record = Writer::new(JsonLayout::Compact, Escape::Minimal);
        let process = |record: &mut Writer, [pid, start]: [&str; 2], process: Process| {
            record.name(pid);
            record.integer(i64::from(process.pid));
            write_member(record, start, &process.start.to_string());
        };
        record.open_object();
        process(&mut record, ["pid", "startTime"], self.agent);
        write_member(&mut record, "bootId", &self.boot_id);
        if let Some(scripts) = self.scripts {
            process(&mut record, ["scriptsPid", "scriptsStartTime"], scripts);
        }
        if let Some(report) = &self.report {
            write_member(&mut record, "report", report);
        }
        record.close_object();
        record.finish() + "\n"
    }

    fn from_json(text: &[u8]) -> Option<Self> {
        let (mut pid, mut start, mut boot_id) = (None, None, None);
        let (mut scripts_pid, mut scripts_start, mut report) = (None, None, None);
        let read = members(&mut Reader::new(text, Dialect::Go), &mut |reader, name| {
            match (name, reader.peek()?) {
                ("pid", ValueKind::Number) => pid = reader.number()?.parse().ok(),
                ("startTime", ValueKind::String) => start = reader.string()?.parse().ok(),
                ("bootId", ValueKind::String) => boot_id = Some(reader.string()?.into_owned()),
                ("scriptsPid", ValueKind::Number) => scripts_pid = reader.number()?.parse().ok(),
                ("scriptsStartTime", ValueKind::String) => {
                    scripts_start = reader.string()?.parse().ok();
                }
                ("report", ValueKind::String) => report = Some(reader.string()?.into_owned()),
                _ => reader.skip(MAX_DEPTH)?,
            }
            Ok(())
        });
        read.ok()?;
        Some(Self {
            agent: Process { pid: pid?, start: start? },
            boot_id: boot_id?,
            scripts: scripts_pid.zip(scripts_start).map(|(pid, start)| Process { pid, start }),
            report,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back() {
        let claimed = RunningAgent {
            agent: Process { pid: 7, start: 99 },
            boot_id: "b".into(),
            scripts: None,
            report: None,
        };
        let started =
            RunningAgent { scripts: Some(Process { pid: 8, start: 100 }), ..claimed.clone() };
        let ended = RunningAgent { report: Some("{\"a\": \"\\n\"}\n".into()), ..started.clone() };
        for running in [claimed, started, ended] {
            assert_eq!(RunningAgent::from_json(running.to_json().as_bytes()), Some(running));
        }
        for torn in
            ["", "{", "{\"pid\":7}", "{\"pid\":-7,\"startTime\":\"1\",\"bootId\":\"b\"}", "[]"]
        {
            assert_eq!(RunningAgent::from_json(torn.as_bytes()), None, "{torn}");
        }
    }
}
