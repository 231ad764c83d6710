//! Any bytes as an archive or file of a node, and any names and contents in one: reading is bounded, deterministic and
//! does not panic.
#![no_main]

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;
use mooring_trace::{chrome, html, is_wanted, json, otlp, table};

/// The reader is part of the binary `mooring`, which has no library: its file is compiled here.
#[allow(dead_code)]
#[path = "../../crates/mooring/src/evidence/trace/input/mod.rs"]
mod input;

/// Items of the binary that the reader requires.
#[allow(dead_code)]
mod output {
    pub(crate) mod failure {
        pub(crate) struct CommandFailure(String);

        impl CommandFailure {
            pub(crate) fn io(text: String) -> Self {
                Self(text)
            }
        }
    }
}

/// The layout of a bundle, which the reader compares names with.
mod evidence {
    pub(crate) mod bundle {
        pub(crate) mod archive {
            pub(crate) const SCHEMA: &str = "mooring.bundle/v1";
            pub(crate) const DIRECTORY: &str = "mooring-bundle";
            pub(crate) const MANIFEST: &str = "manifest.json";
        }

        pub(crate) mod node {
            pub(crate) fn has_times(path: &str) -> bool {
                path.ends_with("/vm.json") || path.ends_with("var/log/azure")
            }
        }
    }
}

/// A file in memory with a path.
static MEMORY: LazyLock<(File, PathBuf)> = LazyLock::new(|| {
    let file = rustix::fs::memfd_create("input", rustix::fs::MemfdFlags::CLOEXEC);
    let file = File::from(file.expect("a file in memory"));
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    (file, path)
});

fuzz_target!(|bytes: &[u8]| {
    let Some((mode, rest)) = bytes.split_first() else { return };
    match mode % 4 {
        0 => read(rest, false),
        1 => read(&gzip(rest), false),
        // An empty archive is all zeros: an ordinary file.
        _ if tar(rest).len() <= 1024 => {}
        2 => read(&tar(rest), true),
        _ => read(&gzip(&tar(rest)), true),
    }
});

fn read(bytes: &[u8], is_archive: bool) {
    let (file, path) = &*MEMORY;
    let mut file = file;
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| file.write_all(bytes))
        .expect("room");
    let Ok(found) = input::read(path) else { return };
    for one in &found.files {
        assert!(one.bytes.len() <= 32 << 20, "{} bytes", one.bytes.len());
        assert!(!is_archive || is_wanted(&one.path), "{}", one.path);
    }
    for note in &found.notes {
        assert!(!note.chars().any(|character| character.is_control()), "{note:?}");
    }
    let again = input::read(path).unwrap_or_else(|_| panic!("not read again"));
    let contents = |input: &input::TraceInput| -> Vec<(String, Vec<u8>)> {
        input.files.iter().map(|one| (one.path.clone(), one.bytes.clone())).collect()
    };
    assert_eq!(contents(&found), contents(&again));
    let timelines = mooring_trace::read(&found.files);
    assert!(serde_json::to_value(json::TraceContent::new(&timelines)).is_ok());
    for text in [chrome::to_json(&timelines), otlp::to_json(&timelines)] {
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
    }
    let shown = table::table(&timelines);
    assert!(!shown.contains('\u{1b}'), "an escape reaches the terminal");
    assert!(!html::page(&timelines).contains("<script src"), "a page loads nothing");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).and_then(|()| packed.finish()).expect("room")
}

/// An archive with valid checksums; names, kinds, contents and some sizes come from the input.
fn tar(bytes: &[u8]) -> Vec<u8> {
    const NAMES: [&str; 4] = [
        "var/log/azure/aks/provision.json",
        "var/log/azure/cluster-provision.log",
        "node/var/log/azure/events/1794708001000.json",
        "../../etc/passwd",
    ];
    let mut archive = Vec::new();
    let entries = bytes.split(|byte| *byte == 0).filter(|entry| entry.len() > 1);
    for entry in entries.take(16) {
        let [kind, name, content @ ..] = entry else { continue };
        let mut header = tar::Header::new_ustar();
        let kinds = [b'0', b'0', b'0', b'0', b'5', b'2', b'L', b'x', b'g', b'S', b'1'];
        header.set_entry_type(tar::EntryType::new(kinds[usize::from(*kind) % kinds.len()]));
        let own = NAMES.get(usize::from(*name) % 8).map(|name| name.as_bytes());
        let own = own.unwrap_or(content);
        let field = &mut header.as_old_mut().name;
        let length = own.len().min(field.len());
        field[..length].copy_from_slice(&own[..length]);
        // Sometimes the size is wrong.
        let lie = if *name > 250 { u64::MAX >> (*kind % 60) } else { 0 };
        header.set_size(lie.max(content.len() as u64));
        header.set_cksum();
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(content);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}
