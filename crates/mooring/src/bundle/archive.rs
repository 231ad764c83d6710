//! Reproducible archive of a bundle.

use std::fmt::Write as _;
use std::io;

use flate2::{Compression, GzBuilder};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tar::{Builder, Header};

/// Top-level directory of the archive.
const DIRECTORY: &str = "mooring-bundle";

/// File of the archive, with secrets redacted.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) why: String,
    pub(crate) original_bytes: u64,
    pub(crate) is_truncated: bool,
    pub(crate) redactions: usize,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) entries: Vec<Entry>,
    /// Paths of skipped files, with the reason.
    pub(crate) skipped: Vec<(String, String)>,
}

impl Contents {
    pub(crate) fn redactions(&self) -> usize {
        self.entries.iter().map(|entry| entry.redactions).sum()
    }

    /// Returns the archive. It contains no timestamps, owners or host names.
    pub(crate) fn pack(&self) -> io::Result<Vec<u8>> {
        let packed = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
        let mut archive = Builder::new(packed);
        let manifest = format!("{:#}\n", self.manifest());
        add(&mut archive, "manifest.json", manifest.as_bytes())?;
        for entry in &self.entries {
            add(&mut archive, &entry.path, &entry.bytes)?;
        }
        archive.into_inner()?.finish()
    }

    fn manifest(&self) -> Value {
        let files = self.entries.iter().map(|entry| {
            let mut file = json!({
                "path": entry.path,
                "why": entry.why,
                "bytes": entry.bytes.len(),
                "originalBytes": entry.original_bytes,
                "redactions": entry.redactions,
                "sha256": hex(digest(&SHA256, &entry.bytes).as_ref()),
            });
            if entry.is_truncated {
                file["cut"] = json!("only the end is here");
            }
            file
        });
        let skipped = self.skipped.iter().map(|(path, why)| json!({"path": path, "why": why}));
        json!({
            "schema": "mooring.bundle/v1",
            "madeBy": format!("mooring {}", env!("CARGO_PKG_VERSION")),
            "files": files.collect::<Vec<_>>(),
            "leftOut": skipped.collect::<Vec<_>>(),
        })
    }
}

fn add(archive: &mut Builder<impl io::Write>, path: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o600);
    archive.append_data(&mut header, format!("{DIRECTORY}/{path}"), bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::{Contents, Entry};

    #[test]
    fn redactions_of_all_files_are_summed() {
        let entries = [2, 0, 3].map(|redactions| Entry {
            path: "a.log".to_owned(),
            why: "a log".to_owned(),
            original_bytes: 1,
            is_truncated: false,
            redactions,
            bytes: Vec::new(),
        });
        let contents = Contents { entries: entries.into(), skipped: Vec::new() };
        assert_eq!(contents.redactions(), 5);
    }
}
