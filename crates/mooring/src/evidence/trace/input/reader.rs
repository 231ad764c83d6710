//! Reads of a path.

use std::fs;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use mooring_redact::identifier;
use mooring_trace::is_wanted;

use super::archive::{MAX_UNPACKED, fill, is_tar};
use super::files::{MAX_NAMES, TraceInput, is_manifest};
use crate::output::failure::CommandFailure;

pub(super) const MAX_DEPTH: usize = 24;

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
    pub(super) fn read_directory(&mut self, root: &Path) -> io::Result<()> {
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
        let mut head = [0; 512];
        let length = fill(&mut file, &mut head)?;
        file.seek(SeekFrom::Start(0))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        if head[..length].starts_with(b"\x1f\x8b") {
            return self.read_gzip(BufReader::new(file), &name);
        }
        if is_tar(&head[..length]) {
            return self.read_archive(BufReader::new(file).take(MAX_UNPACKED));
        }
        if head[..length].starts_with(b"PK\x03\x04") {
            return Err(io::Error::other(
                "zip archives are not supported; unpack it and pass the directory",
            ));
        }
        let size = file.metadata()?.len();
        self.add_file(name, file, size);
        Ok(())
    }
}
