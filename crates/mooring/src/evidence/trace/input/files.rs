//! Files that were read, within limits.

use std::io::{self, Read, Seek, SeekFrom};

use mooring_redact::{identifier, printable};
use mooring_trace::TraceFile;
use serde_json::Value;

use crate::evidence::bundle::archive;
use crate::evidence::bundle::node::has_times;

/// Only the end of a larger file is read: the failure is at the end of a log.
pub(super) const MAX_FILE: u64 = 8 << 20;
/// Bytes kept in memory, names included: 400 nodes × 160 KiB.
pub(super) const MAX_KEPT: u64 = 64 << 20;
pub(super) const MAX_FILES: usize = 20_000;
pub(super) const MAX_NAMES: usize = 500_000;
/// No path on a node is longer; files of an archive with longer names are skipped.
pub(super) const MAX_NAME: u64 = 1024;
/// Notes about truncated or broken files.
pub(super) const MAX_NOTES: usize = 20;

#[derive(Debug, Default)]
pub(crate) struct TraceInput {
    pub(crate) files: Vec<TraceFile>,
    /// Warnings: limits that were reached, and the files skipped because of them.
    pub(crate) notes: Vec<String>,
    /// What a bundle lacks of the timeline, from its manifest.
    pub(crate) left_out: Vec<String>,
    pub(super) bytes: u64,
    pub(super) names: usize,
    pub(super) long_names: usize,
    pub(super) more_notes: usize,
    pub(super) is_full: bool,
}

impl TraceInput {
    /// Adds the counts of files that have no separate note.
    pub(super) fn note_counts(&mut self) {
        if self.long_names > 0 {
            let count = self.long_names;
            self.notes.push(format!("{count} files skipped: name longer than {MAX_NAME} bytes"));
        }
        if self.more_notes > 0 {
            self.notes.push(format!("{} more files truncated or broken", self.more_notes));
        }
    }

    /// Reads the manifest of a bundle, which is not a file of a node.
    pub(super) fn read_manifest(&mut self) {
        let Some(at) = self.files.iter().position(|file| is_manifest(&file.path)) else { return };
        let manifest: Value = serde_json::from_slice(&self.files[at].bytes).unwrap_or_default();
        if manifest["schema"] != archive::SCHEMA {
            return;
        }
        self.files.remove(at);
        let text = |one: &Value, member: &str| printable(one[member].as_str().unwrap_or_default());
        let left_out = manifest["leftOut"].as_array().into_iter().flatten();
        let left_out = left_out.filter(|one| has_times(&text(one, "path"))).take(MAX_NOTES);
        self.left_out =
            left_out.map(|one| format!("{}: {}", text(one, "what"), text(one, "why"))).collect();
    }

    /// Returns false, and adds a note once, if a limit is reached.
    pub(super) fn has_room(&mut self) -> bool {
        let limit = if self.files.len() >= MAX_FILES {
            format!("{MAX_FILES} files")
        } else if self.names >= MAX_NAMES {
            format!("{MAX_NAMES} names")
        } else if self.bytes >= MAX_KEPT {
            format!("{} MiB", MAX_KEPT >> 20)
        } else {
            return true;
        };
        if !self.is_full {
            self.is_full = true;
            self.notes.push(format!("limit reached: {limit}; the remaining files are skipped"));
        }
        false
    }

    pub(super) fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(note);
        } else {
            self.more_notes += 1;
        }
    }

    /// Adds an entry of an archive, or its end: what precedes it is read, because a stream cannot be sought.
    pub(super) fn add(&mut self, path: String, source: impl Read, size: u64) {
        self.add_end(path, source, size, |source, bytes| {
            io::copy(&mut source.take(bytes), &mut io::sink()).map(drop)
        });
    }

    /// Adds a file of a disk, or its end.
    pub(super) fn add_file(&mut self, path: String, file: impl Read + Seek, size: u64) {
        self.add_end(path, file, size, |file, bytes| file.seek(SeekFrom::Start(bytes)).map(drop));
    }

    /// Adds the end of a source; of one that cannot be read completely, the part that can.
    fn add_end<S: Read>(
        &mut self,
        path: String,
        mut source: S,
        size: u64,
        skip: impl FnOnce(&mut S, u64) -> io::Result<()>,
    ) {
        let room = MAX_FILE.min(MAX_KEPT.saturating_sub(self.bytes));
        let mut bytes = Vec::new();
        let skipped = if size > room { skip(&mut source, size - room) } else { Ok(()) };
        let read = skipped.and_then(|()| source.take(room).read_to_end(&mut bytes));
        if let Err(error) = read {
            self.note(format!("`{}`: read failed: {error}", identifier(&path)));
        }
        if size > room {
            self.note(format!(
                "`{}`: only the last {} KiB are read",
                identifier(&path),
                room >> 10
            ));
        }
        bytes.shrink_to_fit();
        self.bytes += (bytes.len() + path.len()) as u64;
        self.files.push(TraceFile { path, bytes });
    }
}

pub(super) fn is_manifest(path: &str) -> bool {
    path == archive::MANIFEST || path == format!("{}/{}", archive::DIRECTORY, archive::MANIFEST)
}
