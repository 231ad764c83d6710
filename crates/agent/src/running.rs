//! Who is provisioning: a record that says whether the process behind it still lives.
//!
//! The record lies under `/run`, so it is gone with the boot. A process number alone proves nothing,
//! since numbers are used again; together with the start time and the boot it does.

use std::io;

use mooring_contract::json::{
    Dialect, Escape, Kind, Layout as JsonLayout, MAX_DEPTH, Reader, Writer,
};

use crate::paths::{Layout, RUN_DIR, RUN_LOCK, RUN_RECORD};
use crate::report;
use crate::world::World;

/// Larger than any record that we write.
const MAX_RECORD_BYTES: u64 = 4096;

/// A process that provisions, or did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) pid: u32,
    start: u64,
    boot_id: String,
}

/// What came of the attempt to be the one that provisions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// We are the one.
    Ours,
    /// Another process is; its number, if it has told.
    TakenBy(Option<u32>),
}

/// Becomes the one process that provisions this node, and says so in the record.
pub(crate) fn claim(world: &mut dyn World, layout: &Layout) -> io::Result<Claim> {
    world.create_dir_all(&layout.at(RUN_DIR))?;
    if !world.lock(&layout.at(RUN_LOCK))? {
        return Ok(Claim::TakenBy(read(world, layout).map(|running| running.pid)));
    }
    let pid = world.pid();
    let running = Running {
        pid,
        start: world.process_start(pid).unwrap_or_default(),
        boot_id: world.boot_id().unwrap_or_default(),
    };
    report::replace(world, &layout.at(RUN_RECORD), running.to_json().as_bytes())?;
    Ok(Claim::Ours)
}

/// The recorded process, dead or alive.
pub(crate) fn read(world: &mut dyn World, layout: &Layout) -> Option<Running> {
    let text = world.read(&layout.at(RUN_RECORD), MAX_RECORD_BYTES).ok()?;
    Running::from_json(&text)
}

/// True if a process that provisions this node lives.
pub(crate) fn is_live(world: &mut dyn World, layout: &Layout) -> bool {
    read(world, layout).is_some_and(|running| running.is_alive(world))
}

impl Running {
    /// True if the very process that wrote the record still lives.
    pub(crate) fn is_alive(&self, world: &mut dyn World) -> bool {
        world.boot_id().unwrap_or_default() == self.boot_id
            && world.process_start(self.pid) == Some(self.start)
    }

    fn to_json(&self) -> String {
        let mut record = Writer::new(JsonLayout::Compact, Escape::Minimal);
        record.open_object();
        record.name("pid");
        record.integer(i64::from(self.pid));
        record.name("startTime");
        record.string(&self.start.to_string());
        record.name("bootId");
        record.string(&self.boot_id);
        record.close_object();
        record.finish() + "\n"
    }

    fn from_json(text: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(text, Dialect::Go);
        let (mut pid, mut start, mut boot_id) = (None, None, None);
        let mut members = reader.object().ok()?;
        while let Some(name) = members.next(&mut reader).ok()? {
            match (&*name.text, reader.peek().ok()?) {
                ("pid", Kind::Number) => pid = reader.number().ok()?.parse().ok(),
                ("startTime", Kind::String) => start = reader.string().ok()?.parse().ok(),
                ("bootId", Kind::String) => boot_id = Some(reader.string().ok()?.into_owned()),
                _ => reader.skip(MAX_DEPTH).ok()?,
            }
        }
        Some(Self { pid: pid?, start: start?, boot_id: boot_id? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back() {
        let running = Running { pid: 7, start: 99, boot_id: "b".into() };
        assert_eq!(Running::from_json(running.to_json().as_bytes()), Some(running));
        for torn in
            ["", "{", "{\"pid\":7}", "{\"pid\":-7,\"startTime\":\"1\",\"bootId\":\"b\"}", "[]"]
        {
            assert_eq!(Running::from_json(torn.as_bytes()), None, "{torn}");
        }
    }
}
