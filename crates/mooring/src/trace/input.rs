//! A node's files out of a folder, an archive or a file, within bounds.
//!
//! Archives are read where they are, never unpacked: a name in one is a label, and leads nowhere.

use std::fs;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Take};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use mooring_redact::{identifier, printable};
use mooring_trace::{File, is_wanted};

use crate::failure::Failure;

/// Of a larger file only its end is read: what matters in a log happened last.
const MAX_FILE: u64 = 8 << 20;
/// What is kept in memory of all files, their names included. Four hundred nodes with logs of 160 KiB fit.
const MAX_KEPT: u64 = 64 << 20;
/// How much of an archive is unpacked, files that are not wanted included: a bound on time.
const MAX_UNPACKED: u64 = 512 << 20;
/// How many files are read, and how many names are looked at.
const MAX_FILES: usize = 20_000;
const MAX_NAMES: usize = 500_000;
/// No path on a node is longer; a longer name in an archive is skipped with its file.
const MAX_NAME: u64 = 1024;
/// A PAX header holds a name, times and owners.
const MAX_PAX_HEADER: u64 = 64 << 10;
const DEEPEST: usize = 24;
/// How many notes are printed, one for each file that is cut or broken.
const MAX_NOTES: usize = 20;

#[derive(Debug, Default)]
pub(crate) struct Input {
    pub(crate) files: Vec<File>,
    /// What a person should know: bounds that were met, and what was skipped for them.
    pub(crate) notes: Vec<String>,
    bytes: u64,
    names: usize,
    long_names: usize,
    more_notes: usize,
    is_full: bool,
}

/// Reads whatever the path leads to.
pub(crate) fn read(path: &Path) -> Result<Input, Failure> {
    let failed = |error: io::Error| {
        let name = identifier(&path.to_string_lossy());
        Failure::unreadable(format!("cannot read `{name}`: {error}"))
    };
    let mut input = Input::default();
    if fs::metadata(path).map_err(failed)?.is_dir() {
        input.folder(path).map_err(failed)?;
    } else {
        let file = fs::File::open(path).map_err(failed)?;
        input.file(file, path).map_err(failed)?;
    }
    input.note_counts();
    Ok(input)
}

impl Input {
    /// Notes how many files were skipped, cut or broken without a note of their own.
    fn note_counts(&mut self) {
        if self.long_names > 0 {
            let count = self.long_names;
            self.notes.push(format!("{count} files skipped: name longer than {MAX_NAME} bytes"));
        }
        if self.more_notes > 0 {
            self.notes.push(format!("{} more files cut or broken", self.more_notes));
        }
    }

    /// False if no more may be read.
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
            self.notes.push(format!("limit reached: {limit}; everything after that is skipped"));
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
                entries.flatten().take(MAX_NAMES).map(|entry| entry.path()).collect();
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
            return self.archive(BufReader::new(file).take(MAX_UNPACKED));
        }
        if head[..length].starts_with(b"PK\x03\x04") {
            return Err(io::Error::other("it is a zip archive; unpack it and name its folder"));
        }
        let size = file.metadata()?.len();
        if size > MAX_FILE {
            file.seek(SeekFrom::End(-i64::try_from(MAX_FILE).unwrap_or(0)))?;
            self.note(last_part(&name, MAX_FILE));
        }
        self.take(name, file, size.min(MAX_FILE));
        Ok(())
    }

    /// What gzip holds: an archive, or one file.
    fn unpacked(&mut self, packed: impl Read, name: &str) -> io::Result<()> {
        let mut plain = MultiGzDecoder::new(packed).take(MAX_UNPACKED);
        let mut head = [0; 512];
        let length = fill(&mut plain, &mut head)?;
        if is_tar(&head[..length]) {
            let left = plain.limit();
            let whole = io::Cursor::new(head[..length].to_vec()).chain(plain);
            return self.archive(whole.take(left + length as u64));
        }
        let name = name.strip_suffix(".gz").unwrap_or(name).to_owned();
        let mut bytes = Vec::new();
        io::Cursor::new(&head[..length]).chain(plain).take(MAX_FILE).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == MAX_FILE {
            self.note(format!(
                "of `{}` only the first {} KiB are read",
                identifier(&name),
                MAX_FILE >> 10
            ));
        }
        self.files.push(File { path: name, bytes });
        Ok(())
    }

    fn archive(&mut self, mut plain: Take<impl Read>) -> io::Result<()> {
        let mut archive = tar::Archive::new(&mut plain);
        // Names that precede their entry, and that a reader would collect without a limit.
        let mut long_name = None;
        let mut broken = None;
        for entry in archive.entries()?.raw(true) {
            if !self.has_room() {
                return Ok(());
            }
            self.names += 1;
            let mut entry = match entry {
                Ok(entry) => entry,
                // What was read so far is told.
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
                // Neither an entry nor its name.
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
                if kind.is_file() && is_wanted(&name) {
                    let size = entry.size();
                    self.take(name, entry, size);
                }
            }
        }
        if plain.limit() == 0 {
            let limit = MAX_UNPACKED >> 20;
            self.notes.push(format!("limit reached: {limit} MiB unpacked; the rest is skipped"));
        } else if let Some(error) = broken {
            // The error quotes names of the archive.
            let error = printable(&error.to_string());
            self.notes.push(format!("the archive breaks off: {error}"));
        }
        Ok(())
    }

    /// Takes a file, or its end. One that breaks off is told, and what there is of it is used.
    fn take(&mut self, path: String, mut source: impl Read, size: u64) {
        let room = MAX_FILE.min(MAX_KEPT.saturating_sub(self.bytes));
        let skipped =
            io::copy(&mut source.by_ref().take(size.saturating_sub(room)), &mut io::sink());
        let mut bytes = Vec::new();
        let read = skipped.and_then(|_| source.take(room).read_to_end(&mut bytes));
        if let Err(error) = read {
            self.note(format!("`{}` breaks off: {error}", identifier(&path)));
        }
        if size > room {
            self.note(last_part(&path, room));
        }
        bytes.shrink_to_fit();
        self.bytes += (bytes.len() + path.len()) as u64;
        self.files.push(File { path, bytes });
    }
}

/// The name in a GNU header of its own; `None` if it is too long.
fn gnu_name(entry: &mut impl Read) -> Option<Vec<u8>> {
    let mut name = Vec::new();
    entry.take(MAX_NAME + 2).read_to_end(&mut name).ok()?;
    // A NUL byte ends it.
    if name.last() == Some(&0) {
        name.pop();
    }
    (name.len() as u64 <= MAX_NAME).then_some(name)
}

/// The name in a PAX header, if one is there; the inner `None` if it, or the header, is too long.
#[expect(clippy::option_option, reason = "no name is not the same as one that is too long")]
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

fn last_part(name: &str, bytes: u64) -> String {
    format!("of `{}` only the last {} KiB are read", identifier(name), bytes >> 10)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of a disk that fails.
    struct Failing;

    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("input/output error"))
        }
    }

    #[test]
    fn broken_files_have_notes_and_those_beyond_the_limit_are_counted() {
        let mut input = Input::default();
        for count in 0..MAX_NOTES + 3 {
            input.take(format!("{count}.log"), Failing, 1);
        }
        input.long_names = 2;
        input.note_counts();
        assert_eq!(input.notes.len(), MAX_NOTES + 2);
        assert_eq!(input.notes[0], "`0.log` breaks off: input/output error");
        assert_eq!(input.notes[MAX_NOTES], "2 files skipped: name longer than 1024 bytes");
        assert_eq!(input.notes[MAX_NOTES + 1], "3 more files cut or broken");
        let mut whole = Input::default();
        whole.note_counts();
        assert!(whole.notes.is_empty(), "{:?}", whole.notes);
    }

    #[test]
    fn file_of_the_largest_size_is_not_cut() {
        for (size, notes) in [(MAX_FILE, 0), (MAX_FILE + 1, 1)] {
            let mut input = Input::default();
            input.take("a.log".to_owned(), io::repeat(0).take(size), size);
            assert_eq!((input.files[0].bytes.len() as u64, input.notes.len()), (MAX_FILE, notes));
        }
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "files of a test")]
    fn links_in_the_root_of_a_node_are_not_followed() {
        let (node, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(node.path().join("var/log/azure")).unwrap();
        for root in [node.path().join("var/log/azure"), outside.path().to_owned()] {
            fs::write(root.join("cluster-provision.log"), "+ true\n").unwrap();
        }
        std::os::unix::fs::symlink(outside.path(), node.path().join("etc")).unwrap();
        let names: Vec<_> =
            read(node.path()).unwrap().files.into_iter().map(|file| file.path).collect();
        assert_eq!(names, ["var/log/azure/cluster-provision.log"]);
    }

    #[test]
    fn archive_gives_regular_files_that_are_wanted_and_no_links() {
        let mut archive = tar::Builder::new(Vec::new());
        for name in ["notes.txt", "var/log/azure/cluster-provision.log"] {
            let mut header = tar::Header::new_gnu();
            header.set_size(1);
            archive.append_data(&mut header, name, &b"x"[..]).unwrap();
        }
        let mut link = tar::Header::new_gnu();
        link.set_entry_type(tar::EntryType::Symlink);
        link.set_size(0);
        archive.append_link(&mut link, "provision.json", "/etc/passwd").unwrap();
        let bytes = archive.into_inner().unwrap();
        let mut input = Input::default();
        input.archive((&bytes[..]).take(MAX_UNPACKED)).unwrap();
        let names: Vec<_> = input.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names, ["var/log/azure/cluster-provision.log"]);
    }
}
