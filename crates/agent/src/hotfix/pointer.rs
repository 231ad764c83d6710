//! The pointer: which hotfix is requested for which version.

use std::collections::BTreeMap;
use std::io;

use mooring_contract::json::{Dialect, Error, Escape, JsonLayout, MAX_DEPTH, Reader, Writer};

use crate::format::{self, json_error, path_error, read_failure};
use crate::hotfix::base;
use crate::node::agent::Agent;
use crate::node::agent::LogValue::Text;
use crate::node::paths::{HOTFIX_POINTER, Layout as NodeLayout};
use crate::node::report::replace_with;
use crate::world::{ReadFailure, World};

/// Twice the largest message of the live-patching service.
pub(super) const MAX_BYTES: u64 = 8 << 20;

/// The pointer's name while it is written.
const TEMPORARY: &str = ".aks-node-controller-hotfix-new";

const PUBLIC: u32 = 0o644;

/// A request for a hotfix, by custom data or the live-patching service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub(super) version: String,
    pub(super) scripts_version: String,
    pub(super) hotfixes: BTreeMap<String, String>,
}

impl Pointer {
    /// Reads a pointer as Go's `encoding/json` does; a blank text requests nothing.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        if text.trim_ascii().is_empty() {
            return Ok(Self::default());
        }
        parse(text).map_err(|error| json_error(text, &error))
    }

    /// The version of the agent that is requested for the agent of version `own`.
    pub(super) fn agent_version(&self, own: &str) -> Option<&str> {
        let version = if self.hotfixes.is_empty() {
            Some(&self.version)
        } else {
            base(own).and_then(|base| self.hotfixes.get(base))
        };
        version.map(|version| version.trim()).filter(|version| !version.is_empty())
    }

    pub(super) fn to_json(&self) -> String {
        let mut writer = Writer::new(JsonLayout::Compact, Escape::HtmlReplaced);
        writer.open_object();
        for (name, value) in
            [("version", &self.version), ("scripts_version", &self.scripts_version)]
        {
            if !value.is_empty() {
                format::write_member(&mut writer, name, value);
            }
        }
        writer.name("hotfixes");
        writer.open_object();
        for (base, version) in &self.hotfixes {
            format::write_member(&mut writer, base, version);
        }
        writer.close_object();
        writer.close_object();
        writer.finish()
    }
}

fn parse(text: &[u8]) -> Result<Pointer, Error> {
    let mut reader = Reader::new(text, Dialect::Go);
    let mut pointer = Pointer::default();
    format::members_or_null(&mut reader, &mut |reader, name| match name
        .to_ascii_lowercase()
        .as_str()
    {
        "version" => read_version(reader, &mut pointer.version),
        "scripts_version" => read_version(reader, &mut pointer.scripts_version),
        "hotfixes" => read_hotfixes(reader, &mut pointer.hotfixes),
        _ => reader.skip(MAX_DEPTH),
    })?;
    reader.end()?;
    Ok(pointer)
}

fn read_version(reader: &mut Reader<'_>, version: &mut String) -> Result<(), Error> {
    if !format::is_null(reader)? {
        reader.string()?.trim().clone_into(version);
    }
    Ok(())
}

/// Reads the map of bases to versions; `null` empties it, as in Go.
pub(super) fn read_hotfixes(
    reader: &mut Reader<'_>,
    hotfixes: &mut BTreeMap<String, String>,
) -> Result<(), Error> {
    if format::is_null(reader)? {
        hotfixes.clear();
        return Ok(());
    }
    format::members(reader, &mut |reader, base| {
        let mut version = String::new();
        read_version(reader, &mut version)?;
        hotfixes.insert(base.to_owned(), version);
        Ok(())
    })
}

/// Reads the node's pointer; a missing one requests nothing.
pub(crate) fn of_node(world: &mut dyn World, layout: &NodeLayout) -> Result<Pointer, String> {
    match world.read(&layout.at(HOTFIX_POINTER), MAX_BYTES) {
        Ok(text) => Pointer::parse(&text)
            .map_err(|error| format!("parsing hotfix config {HOTFIX_POINTER}: {error}")),
        Err(ReadFailure::Open(error)) if error.kind() == io::ErrorKind::NotFound => {
            Ok(Pointer::default())
        }
        Err(failure) => Err(read_failure(HOTFIX_POINTER.as_ref(), &failure)),
    }
}

/// Replaces the map of the node's pointer and keeps its versions. The directory is not created.
pub(super) fn stage(
    agent: &mut Agent<'_>,
    hotfixes: BTreeMap<String, String>,
) -> Result<(), String> {
    let old = of_node(agent.world, &agent.layout).unwrap_or_else(|error| {
        agent.warn(
            "could not read existing hotfix pointer; version/scripts_version will not be preserved",
            &[("path", Text(HOTFIX_POINTER)), ("error", Text(&error))],
        );
        Pointer::default()
    });
    let text = Pointer { hotfixes, ..old }.to_json();
    if u64::try_from(text.len()).is_ok_and(|length| length > MAX_BYTES) {
        return Err(format!("the pointer is larger than {MAX_BYTES} bytes"));
    }
    let path = agent.layout.at(HOTFIX_POINTER);
    let mode = agent.world.entry(&path).map_or(PUBLIC, |entry| entry.mode & 0o777);
    replace_with(agent.world, &path, &path.with_file_name(TEMPORARY), text.as_bytes(), mode)
        .map_err(|error| path_error("write", HOTFIX_POINTER.as_ref(), &error))?;
    agent.info("staged hotfix pointer for download-hotfix", &[("path", Text(HOTFIX_POINTER))]);
    Ok(())
}

/// A pointer as it would be staged; `None` if it is malformed.
pub fn normalize_pointer(text: &[u8]) -> Option<String> {
    Pointer::parse(text).ok().map(|pointer| pointer.to_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Pointer {
        Pointer::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn pointer_is_read_as_go_reads_it() {
        let whole = parsed(
            r#"{"version":" 202604.01.1 ","Scripts_Version":"202604.01.2","x":[{}],"hotfixes":{"202604.01":"202604.01.3"}}"#,
        );
        assert_eq!(whole.version, "202604.01.1");
        assert_eq!(whole.scripts_version, "202604.01.2");
        assert_eq!(whole.agent_version("202604.01.0"), Some("202604.01.3"));
        assert_eq!(whole.agent_version("202605.01.0"), None, "the map counts alone");
        assert_eq!(whole.agent_version("dev"), None);
        for nothing in ["", " \n", "{}", "null", r#"{"version":null,"hotfixes":null}"#] {
            assert_eq!(parsed(nothing), Pointer::default(), "{nothing}");
        }
        let only_version = parsed(r#"{"version":"202604.01.1","hotfixes":{}}"#);
        assert_eq!(only_version.agent_version("anything"), Some("202604.01.1"));
        for bad in ["not json", "[]", "7", r#"{"version":7}"#, r#"{"hotfixes":[]}"#, "{} x"] {
            assert!(Pointer::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn pointer_is_written_in_upstreams_order_without_empty_members() {
        let text =
            r#"{"scripts_version":"2","version":"1","hotfixes":{"b":"2","a":"1"},"other":1}"#;
        let expected = r#"{"version":"1","scripts_version":"2","hotfixes":{"a":"1","b":"2"}}"#;
        assert_eq!(parsed(text).to_json(), expected);
        assert_eq!(Pointer::default().to_json(), r#"{"hotfixes":{}}"#);
    }

    #[test]
    fn pointer_is_staged_in_one_form_or_refused() {
        let text = br#"{ "VERSION": " 1 ", "hotfixes": {"b": "2"}, "unknown": 1 }"#;
        let staged = r#"{"version":"1","hotfixes":{"b":"2"}}"#;
        assert_eq!(normalize_pointer(text).as_deref(), Some(staged));
        assert_eq!(normalize_pointer(b"[]"), None);
    }
}
