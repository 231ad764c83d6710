//! Archives and checksums whose bytes depend on their contents only: no times, owners or order of a directory.

use std::io::Write as _;

use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};

use crate::step::Failed;

/// A file, or a directory if it has no bytes to hold.
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) mode: u32,
    /// None for a directory.
    pub(super) bytes: Option<Vec<u8>>,
}

impl Entry {
    pub(super) fn file(path: impl Into<String>, mode: u32, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode, bytes: Some(bytes.into()) }
    }

    pub(super) fn directory(path: &str) -> Self {
        Self { path: path.to_owned(), mode: 0o755, bytes: None }
    }
}

/// Packs entries in the given order.
pub(super) fn tar(entries: &[Entry]) -> Result<Vec<u8>, Failed> {
    let mut archive = tar::Builder::new(Vec::new());
    for Entry { path, mode, bytes } in entries {
        let content = bytes.as_deref().unwrap_or_default();
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(match bytes {
            Some(_) => tar::EntryType::Regular,
            None => tar::EntryType::Directory,
        });
        header.set_mode(*mode);
        header.set_size(content.len() as u64);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        archive.append_data(&mut header, path, content)?;
    }
    Ok(archive.into_inner()?)
}

pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>, Failed> {
    let level = flate2::Compression::best();
    let mut packed = flate2::GzBuilder::new().mtime(0).write(Vec::new(), level);
    packed.write_all(bytes)?;
    Ok(packed.finish()?)
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(digest(&SHA256, bytes).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_has_modes_and_contents_and_no_time() {
        let entries = [
            Entry::directory("etc"),
            Entry::file("etc/a", 0o644, "A"),
            Entry::file("run", 0o755, ""),
        ];
        let packed = gzip(&tar(&entries).unwrap()).unwrap();
        assert_eq!(packed, gzip(&tar(&entries).unwrap()).unwrap());
        assert_eq!(packed[4..8], [0; 4], "the time in the gzip header");
        let mut read = tar::Archive::new(flate2::read::GzDecoder::new(&packed[..]));
        let found = read.entries().unwrap().map(|entry| {
            let header = entry.unwrap().header().clone();
            assert_eq!((header.mtime().unwrap(), header.uid().unwrap()), (0, 0));
            (header.path().unwrap().display().to_string(), header.mode().unwrap())
        });
        let expected = [("etc", 0o755), ("etc/a", 0o644), ("run", 0o755)];
        assert_eq!(found.collect::<Vec<_>>(), expected.map(|(path, mode)| (path.to_owned(), mode)));
    }

    #[test]
    fn checksum_is_sha256() {
        assert!(sha256(b"").starts_with("e3b0c44298fc1c14") && sha256(b"").ends_with("7852b855"));
    }
}
