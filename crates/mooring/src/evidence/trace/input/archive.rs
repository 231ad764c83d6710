//! Archives, compressed or not.

use std::io::{self, Read, Take};

use flate2::read::MultiGzDecoder;
use mooring_redact::{identifier, printable};
use mooring_trace::{TraceFile, is_wanted};

use super::files::{MAX_FILE, MAX_NAME, TraceInput, is_manifest};

/// Bytes unpacked from an archive, including skipped files; bounds the time.
pub(super) const MAX_UNPACKED: u64 = 512 << 20;
/// PAX headers hold a name, times and owners.
pub(super) const MAX_PAX_HEADER: u64 = 64 << 10;

impl TraceInput {
    /// Reads an archive or a single file compressed with gzip.
    pub(super) fn read_gzip(&mut self, packed: impl Read, name: &str) -> io::Result<()> {
        let mut plain = MultiGzDecoder::new(packed).take(MAX_UNPACKED);
        let mut head = [0; 512];
        let length = fill(&mut plain, &mut head)?;
        if is_tar(&head[..length]) {
            let whole = io::Cursor::new(head[..length].to_vec()).chain(plain);
            return self.read_archive(whole.take(MAX_UNPACKED));
        }
        let name = name.strip_suffix(".gz").unwrap_or(name).to_owned();
        let mut bytes = Vec::new();
        io::Cursor::new(&head[..length]).chain(plain).take(MAX_FILE).read_to_end(&mut bytes)?;
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

    pub(super) fn read_archive(&mut self, mut plain: Take<impl Read>) -> io::Result<()> {
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
}

/// Returns the name in a GNU long-name header; `None` if it is too long.
pub(super) fn gnu_name(entry: &mut impl Read) -> Option<Vec<u8>> {
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
pub(super) fn pax_name(entry: &mut impl Read) -> Option<Option<Vec<u8>>> {
    let mut header = Vec::new();
    entry.take(MAX_PAX_HEADER + 1).read_to_end(&mut header).ok()?;
    if header.len() as u64 > MAX_PAX_HEADER {
        return Some(None);
    }
    let members = tar::PaxExtensions::new(&header).flatten();
    let name = { members }.find(|member| member.key_bytes() == b"path")?;
    Some(Some(name.value_bytes().to_vec()))
}

pub(super) fn is_tar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// Reads until the buffer is full or the source ends.
pub(super) fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
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
