//! A node's files out of a folder, an archive or a file, within bounds.
//!
//! Archives are read where they are, never unpacked: a name in one is a label, and leads nowhere.

use std::fs;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use mooring_contract::shown;
use mooring_trace::{File, is_wanted};

use crate::failure::Failure;

/// Of a larger file only its end is read: what matters in a log happened last.
const LARGEST: u64 = 32 << 20;
/// What is read in all, counted unpacked. Four hundred nodes' logs fit; a bomb does not.
const MOST_BYTES: u64 = 256 << 20;
/// How many files are read, and how many names are looked at.
const MOST_FILES: usize = 20_000;
const MOST_NAMES: usize = 500_000;
/// How deep folders are looked into.
const DEEPEST: usize = 24;

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Input {
    pub(crate) files: Vec<File>,
    /// What a person should know: bounds that were met.
    pub(crate) notes: Vec<String>,
    bytes: u64,
    names: usize,
}

/// Reads whatever the path leads to.
pub(crate) fn read(path: &Path) -> Result<Input, Failure> {
    let failed = |error: io::Error| {
        let name = shown(&path.to_string_lossy());
        Failure::unreadable(format!("cannot read `{name}`: {error}"))
    };
    let mut input = Input::default();
    if fs::metadata(path).map_err(failed)?.is_dir() {
        input.folder(path).map_err(failed)?;
    } else {
        let file = fs::File::open(path).map_err(failed)?;
        input.file(file, path).map_err(failed)?;
    }
    Ok(input)
}

impl Input {
    /// False if no more may be read.
    fn has_room(&mut self) -> bool {
        let full =
            self.files.len() >= MOST_FILES || self.names >= MOST_NAMES || self.bytes >= MOST_BYTES;
        if full && self.notes.is_empty() {
            let limit = MOST_BYTES >> 20;
            self.notes.push(format!(
                "there is more than is read: {limit} MiB, {MOST_FILES} files or {MOST_NAMES} names; the rest is left out"
            ));
        }
        !full
    }

    fn folder(&mut self, root: &Path) -> io::Result<()> {
        // A node's own root: the rest of the system is not walked through.
        let known = ["var/log/azure", "var/log", "etc", "usr/lib", "opt/azure/containers"];
        let is_root = root.join("var/log/azure").is_dir();
        let folders = if is_root { known.to_vec() } else { vec![""] };
        let mut stack: Vec<(std::path::PathBuf, usize)> = Vec::new();
        for folder in folders.into_iter().rev() {
            // Only logs lie in folders of folders.
            let depth = if is_root && folder != "var/log/azure" { DEEPEST } else { 0 };
            let folder = root.join(folder);
            if folder.symlink_metadata().is_ok_and(|meta| meta.is_dir()) || !is_root {
                stack.push((folder, depth));
            }
        }
        while let Some((folder, depth)) = stack.pop() {
            // One folder that may not be read is no reason to tell nothing.
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            let mut entries: Vec<_> =
                entries.flatten().take(MOST_NAMES).map(|entry| entry.path()).collect();
            entries.sort();
            for path in entries {
                if !self.has_room() {
                    return Ok(());
                }
                self.names += 1;
                // Links are not followed, and what is no file may never end.
                let Ok(meta) = path.symlink_metadata() else { continue };
                if meta.is_dir() && depth < DEEPEST {
                    stack.push((path, depth + 1));
                } else if meta.is_file() {
                    let name =
                        path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                    if is_wanted(&name) {
                        let file = fs::File::open(&path)?;
                        self.take(name, file, meta.len());
                    }
                }
            }
        }
        Ok(())
    }

    /// An archive, or a file by itself.
    fn file(&mut self, mut file: fs::File, path: &Path) -> io::Result<()> {
        let mut head = [0; 512];
        let length = fill(&mut file, &mut head)?;
        file.seek(SeekFrom::Start(0))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        if head[..length].starts_with(b"\x1f\x8b") {
            return self.unpacked(BufReader::new(file), &name);
        }
        if is_tar(&head[..length]) {
            return self.archive(BufReader::new(file).take(MOST_BYTES));
        }
        if head[..length].starts_with(b"PK\x03\x04") {
            return Err(io::Error::other("it is a zip archive; unpack it and name its folder"));
        }
        let size = file.metadata()?.len();
        if size > LARGEST {
            file.seek(SeekFrom::End(-i64::try_from(LARGEST).unwrap_or(0)))?;
        }
        self.take(name, file, size.min(LARGEST));
        Ok(())
    }

    /// What gzip holds: an archive, or one file.
    fn unpacked(&mut self, packed: impl Read, name: &str) -> io::Result<()> {
        let mut plain = MultiGzDecoder::new(packed).take(MOST_BYTES);
        let mut head = [0; 512];
        let length = fill(&mut plain, &mut head)?;
        let whole = io::Cursor::new(head[..length].to_vec()).chain(plain);
        if is_tar(&head[..length]) {
            return self.archive(whole);
        }
        let name = name.strip_suffix(".gz").unwrap_or(name).to_owned();
        let mut bytes = Vec::new();
        whole.take(LARGEST).read_to_end(&mut bytes)?;
        self.files.push(File { path: name, bytes });
        Ok(())
    }

    fn archive(&mut self, plain: impl Read) -> io::Result<()> {
        let mut archive = tar::Archive::new(plain);
        for entry in archive.entries()? {
            if !self.has_room() {
                return Ok(());
            }
            self.names += 1;
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    // What was read so far is told.
                    self.notes.push(format!("the archive breaks off: {error}"));
                    return Ok(());
                }
            };
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            if entry.header().entry_type().is_file() && is_wanted(&name) {
                let size = entry.size();
                self.take(name, entry, size);
            }
        }
        Ok(())
    }

    /// Takes a file, or its end. One that breaks off is told, and what there is of it is used.
    fn take(&mut self, path: String, mut source: impl Read, size: u64) {
        let skipped =
            io::copy(&mut source.by_ref().take(size.saturating_sub(LARGEST)), &mut io::sink());
        let mut bytes = Vec::new();
        let room = LARGEST.min(MOST_BYTES.saturating_sub(self.bytes));
        let read = skipped.and_then(|_| source.take(room).read_to_end(&mut bytes));
        if let Err(error) = read {
            self.notes.push(format!("`{}` breaks off: {error}", shown(&path)));
        }
        if size > LARGEST {
            self.notes.push(format!(
                "of `{}` only the last {} MiB are read",
                shown(&path),
                LARGEST >> 20
            ));
        }
        self.bytes += bytes.len() as u64;
        self.files.push(File { path, bytes });
    }
}

fn is_tar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// Reads until the buffer is full or nothing is left.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match source.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}
