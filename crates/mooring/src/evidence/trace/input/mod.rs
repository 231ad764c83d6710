//! Bounded reads of a node's files from a directory, an archive or a file.
//!
//! Archives are never unpacked to disk: a name in an archive is a label, not a path.

#[cfg(test)]
mod tests;

use std::fs;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use mooring_redact::{identifier, printable};
use mooring_trace::{TraceFile, is_wanted};
use serde_json::Value;

use crate::evidence::bundle::archive;
use crate::evidence::bundle::node::has_times;
use crate::output::failure::CommandFailure;

/// Only the end of a larger file is read: the failure is at the end of a log.
const MAX_FILE: u64 = 8 << 20;
/// Bytes kept in memory, names included: 400 nodes × 160 KiB.
const MAX_KEPT: u64 = 64 << 20;
const MAX_FILES: usize = 20_000;
const MAX_NAMES: usize = 500_000;
/// No path on a node is longer; files of an archive with longer names are skipped.
const MAX_NAME: u64 = 1024;
/// Notes about truncated or broken files.
const MAX_NOTES: usize = 20;
/// Bytes unpacked from an archive, including skipped files; bounds the time.
const MAX_UNPACKED: u64 = 512 << 20;
/// PAX headers hold a name, times and owners.
const MAX_PAX_HEADER: u64 = 64 << 10;
const MAX_DEPTH: usize = 24;
/// Bytes that show the kind of a file.
const HEAD: u64 = 512;

#[derive(Debug, Default)]
pub(crate) struct TraceInput {
    pub(crate) files: Vec<TraceFile>,
    /// Warnings: limits that were reached, and the files skipped because of them.
    pub(crate) notes: Vec<String>,
    /// What a bundle lacks of the timeline, from its manifest.
    pub(crate) left_out: Vec<String>,
    bytes: u64,
    names: usize,
    long_names: usize,
    more_notes: usize,
    is_full: bool,
}

/// Reads a directory, an archive or a file.
pub(crate) fn read(path: &Path) -> Result<TraceInput, CommandFailure> {
    let failed = |error: io::Error| {
        let name = identifier(&path.to_string_lossy());
        CommandFailure::io(format!("cannot read `{name}`: {error}"))
    };
    let mut input = TraceInput::default();
    if fs::metadata(path).map_err(failed)?.is_dir() {
        input.read_directory(path).map_err(failed)?;
    } else {
        let file = fs::File::open(path).map_err(failed)?;
        input.read_file(file, path).map_err(failed)?;
    }
    input.note_counts();
    input.read_manifest();
    Ok(input)
}

impl TraceInput {
    fn read_directory(&mut self, root: &Path) -> io::Result<()> {
        // The root of a node: other directories of the system are not read.
        let known = ["var/log/azure", "var/log", "etc", "usr/lib", "opt/azure/containers"];
        let is_root = root.join("var/log/azure").is_dir();
        let directories = if is_root { known.to_vec() } else { vec![""] };
        let mut stack: Vec<(std::path::PathBuf, usize)> = Vec::new();
        for directory in directories.into_iter().rev() {
            // Only logs are in nested directories.
            let depth = if is_root && directory != "var/log/azure" { MAX_DEPTH } else { 0 };
            let directory = root.join(directory);
            if directory.symlink_metadata().is_ok_and(|meta| meta.is_dir()) || !is_root {
                stack.push((directory, depth));
            }
        }
        while let Some((directory, depth)) = stack.pop() {
            // The others are still of use.
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            let mut entries: Vec<_> =
                entries.flatten().take(MAX_NAMES).map(|entry| entry.path()).collect();
            entries.sort();
            for path in entries {
                if !self.has_room() {
                    return Ok(());
                }
                self.names += 1;
                // Links are not followed; pipes and devices may block or never end.
                let Ok(meta) = path.symlink_metadata() else { continue };
                if meta.is_dir() && depth < MAX_DEPTH {
                    stack.push((path, depth + 1));
                } else if meta.is_file() {
                    let name =
                        path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                    if is_wanted(&name) || is_manifest(&name) {
                        let file = fs::File::open(&path)?;
                        self.add_file(name, file, meta.len());
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads an archive, or a single file.
    fn read_file(&mut self, mut file: fs::File, path: &Path) -> io::Result<()> {
        let mut head = Vec::new();
        file.by_ref().take(HEAD).read_to_end(&mut head)?;
        file.seek(SeekFrom::Start(0))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        if head.starts_with(b"\x1f\x8b") {
            return self.read_gzip(BufReader::new(file), &name);
        }
        if is_tar(&head) {
            return self.read_archive(BufReader::new(file).take(MAX_UNPACKED));
        }
        if head.starts_with(b"PK\x03\x04") {
            return Err(io::Error::other(
                "zip archives are not supported; unpack it and pass the directory",
            ));
        }
        let size = file.metadata()?.len();
        self.add_file(name, file, size);
        Ok(())
    }

    /// Reads an archive or a single file compressed with gzip.
    fn read_gzip(&mut self, packed: impl Read, name: &str) -> io::Result<()> {
        let mut plain = MultiGzDecoder::new(packed).take(MAX_UNPACKED);
        let mut head = Vec::new();
        plain.by_ref().take(HEAD).read_to_end(&mut head)?;
        if is_tar(&head) {
            return self.read_archive(io::Cursor::new(head).chain(plain).take(MAX_UNPACKED));
        }
        let name = name.strip_suffix(".gz").unwrap_or(name).to_owned();
        let mut bytes = Vec::new();
        io::Cursor::new(head).chain(plain).take(MAX_FILE).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == MAX_FILE {
            self.note(format!(
                "`{}`: only the first {} KiB are read",
                identifier(&name),
                MAX_FILE >> 10
            ));
        }
        self.files.push(TraceFile { path: name, bytes });
        Ok(())
    }

    fn read_archive(&mut self, mut plain: Take<impl Read>) -> io::Result<()> {
        let mut archive = tar::Archive::new(&mut plain);
        // Names that precede their entry; the tar crate would read them without a limit.
        let mut long_name = None;
        let mut broken = None;
        for entry in archive.entries()?.raw(true) {
            if !self.has_room() {
                return Ok(());
            }
            self.names += 1;
            let mut entry = match entry {
                Ok(entry) => entry,
                // The files before it are still of use.
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            };
            let kind = entry.header().entry_type();
            if kind.is_gnu_longname() {
                long_name = Some(gnu_name(&mut entry));
            } else if kind.is_pax_local_extensions() {
                long_name = pax_name(&mut entry).or(long_name);
            } else if kind.is_gnu_longlink() || kind.is_pax_global_extensions() {
                // Not an entry and not a name.
            } else {
                let name = match long_name.take() {
                    None => Some(entry.path_bytes().into_owned()),
                    Some(name) => name,
                };
                let Some(name) = name.filter(|name| name.len() as u64 <= MAX_NAME) else {
                    self.long_names += 1;
                    continue;
                };
                let name = String::from_utf8_lossy(&name).into_owned();
                if kind.is_file() && (is_wanted(&name) || is_manifest(&name)) {
                    let size = entry.size();
                    self.add(name, entry, size);
                }
            }
        }
        if plain.limit() == 0 {
            let limit = MAX_UNPACKED >> 20;
            self.notes.push(format!("limit reached: {limit} MiB unpacked; the rest is skipped"));
        } else if let Some(error) = broken {
            // The error contains names from the archive.
            let error = printable(&error.to_string());
            self.notes.push(format!("the archive is truncated or damaged: {error}"));
        }
        Ok(())
    }

    /// Adds the counts of files that have no separate note.
    fn note_counts(&mut self) {
        if self.long_names > 0 {
            let count = self.long_names;
            self.notes.push(format!("{count} files skipped: name longer than {MAX_NAME} bytes"));
        }
        if self.more_notes > 0 {
            self.notes.push(format!("{} more files truncated or broken", self.more_notes));
        }
    }

    /// Reads the manifest of a bundle, which is not a file of a node.
    fn read_manifest(&mut self) {
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
    fn has_room(&mut self) -> bool {
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

    fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(note);
        } else {
            self.more_notes += 1;
        }
    }

    /// Adds an entry of an archive, or its end: what precedes it is read, because a stream cannot be sought.
    fn add(&mut self, path: String, source: impl Read, size: u64) {
        self.add_end(path, source, size, |source, bytes| {
            io::copy(&mut source.take(bytes), &mut io::sink()).map(drop)
        });
    }

    /// Adds a file of a disk, or its end.
    fn add_file(&mut self, path: String, file: impl Read + Seek, size: u64) {
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

fn is_manifest(path: &str) -> bool {
    path == archive::MANIFEST || path == format!("{}/{}", archive::DIRECTORY, archive::MANIFEST)
}

/// Returns the name in a GNU long-name header; `None` if it is too long.
fn gnu_name(entry: &mut impl Read) -> Option<Vec<u8>> {
    let mut name = Vec::new();
    entry.take(MAX_NAME + 2).read_to_end(&mut name).ok()?;
    // It is NUL-terminated.
    if name.last() == Some(&0) {
        name.pop();
    }
    (name.len() as u64 <= MAX_NAME).then_some(name)
}

/// Returns the name in a PAX header, if it has one; the inner `None` if the name or the header is too long.
#[expect(clippy::option_option, reason = "no name differs from a name that is too long")]
fn pax_name(entry: &mut impl Read) -> Option<Option<Vec<u8>>> {
    let mut header = Vec::new();
    entry.take(MAX_PAX_HEADER + 1).read_to_end(&mut header).ok()?;
    if header.len() as u64 > MAX_PAX_HEADER {
        return Some(None);
    }
    let members = tar::PaxExtensions::new(&header).flatten();
    let name = { members }.find(|member| member.key_bytes() == b"path")?;
    Some(Some(name.value_bytes().to_vec()))
}

fn is_tar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}
