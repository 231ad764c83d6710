//! The record of hotfixes on this node, which makes many renames one step.

use std::str::FromStr;

use mooring_contract::json::{Error, Escape, JsonLayout, MAX_DEPTH, Reader, ValueKind, Writer};

use super::replace::replace;
use crate::format::json;
use crate::node::paths::{HOTFIX_RECORD, Layout};
use crate::world::World;

/// The record's name while it is written.
const TEMPORARY: &str = ".aks-node-controller-hotfix-state-new";
/// More than a record of 256 files with the longest paths.
const MAX_BYTES: u64 = 2 << 20;

/// A record of the scripts and the agent that hotfixes installed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HotfixRecord {
    /// The version of the scripts in place, or being put in place.
    pub(crate) scripts: String,
    /// The version of the scripts before that.
    pub(super) previous: String,
    /// True while the files are being put in place.
    pub(crate) is_pending: bool,
    pub(super) files: Vec<Placed>,
    /// The version of the hotfix agent, if one was installed.
    pub(crate) binary: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) path: String,
    pub(super) length: u64,
    pub(super) checksum: u32,
    /// True if the file existed before.
    pub(super) replaces: bool,
}

/// Reads the node's record; without a readable one, hotfixes have changed nothing.
pub(crate) fn read(world: &mut dyn World, layout: &Layout) -> Option<HotfixRecord> {
    HotfixRecord::parse(&world.read(&layout.at(HOTFIX_RECORD), MAX_BYTES).ok()?)
}

impl HotfixRecord {
    /// Replaces the node's record in one instant.
    pub(super) fn write(&self, world: &mut dyn World, layout: &Layout) -> std::io::Result<()> {
        let text = self.to_json();
        replace(world, &layout.at(HOTFIX_RECORD), TEMPORARY, text.as_bytes(), 0o644)
    }

    fn to_json(&self) -> String {
        let mut writer = Writer::new(JsonLayout::Compact, Escape::Minimal);
        writer.open_object();
        for (name, value) in
            [("scripts", &self.scripts), ("previous", &self.previous), ("binary", &self.binary)]
        {
            json::write_member(&mut writer, name, value);
        }
        writer.name("pending");
        writer.boolean(self.is_pending);
        writer.name("files");
        writer.open_array();
        for file in &self.files {
            writer.open_object();
            json::write_member(&mut writer, "path", &file.path);
            writer.name("length");
            writer.integer(i64::try_from(file.length).unwrap_or(i64::MAX));
            writer.name("checksum");
            writer.integer(i64::from(file.checksum));
            writer.name("replaces");
            writer.boolean(file.replaces);
            writer.close_object();
        }
        writer.close_array();
        writer.close_object();
        writer.finish()
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let mut record = Self::default();
        let read = json::object(text, &mut |reader, name| {
            match (name, reader.peek()?) {
                ("scripts", ValueKind::String) => record.scripts = reader.string()?.into_owned(),
                ("previous", ValueKind::String) => record.previous = reader.string()?.into_owned(),
                ("binary", ValueKind::String) => record.binary = reader.string()?.into_owned(),
                ("pending", ValueKind::Bool) => record.is_pending = reader.boolean()?,
                ("files", ValueKind::Array) => {
                    let mut elements = reader.array()?;
                    while elements.next(reader)? {
                        record.files.push(Placed::read(reader)?);
                    }
                }
                _ => reader.skip(MAX_DEPTH)?,
            }
            Ok(())
        });
        read.ok().map(|()| record)
    }
}

impl Placed {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let mut placed = Self::default();
        json::members(reader, &mut |reader, name| {
            match (name, reader.peek()?) {
                ("path", ValueKind::String) => placed.path = reader.string()?.into_owned(),
                ("length", ValueKind::Number) => placed.length = read_number(reader)?,
                ("checksum", ValueKind::Number) => placed.checksum = read_number(reader)?,
                ("replaces", ValueKind::Bool) => placed.replaces = reader.boolean()?,
                _ => reader.skip(MAX_DEPTH)?,
            }
            Ok(())
        })?;
        Ok(placed)
    }
}

fn read_number<N: FromStr>(reader: &mut Reader<'_>) -> Result<N, Error> {
    reader.number()?.parse().map_err(|_| reader.wrong_type("a smaller number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_is_read_as_it_was_written() {
        let placed =
            Placed { path: "/etc/a \"b\"".into(), length: 7, checksum: u32::MAX, replaces: true };
        let record = HotfixRecord {
            scripts: "202604.01.1".into(),
            previous: "202604.01.0".into(),
            is_pending: true,
            files: vec![placed, Placed::default()],
            binary: "202604.01.2".into(),
        };
        assert_eq!(HotfixRecord::parse(record.to_json().as_bytes()), Some(record));
        assert_eq!(HotfixRecord::parse(b"{}"), Some(HotfixRecord::default()));
        for bad in ["", "[]", "{", r#"{"files":[7]}"#, r#"{"files":[{"length":-1}]}"#] {
            assert_eq!(HotfixRecord::parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
