//! The archive: the same bytes for the same content.

use std::fmt::Write as _;
use std::io;

use flate2::{Compression, GzBuilder};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tar::{Builder, Header};

/// The folder that everything in the archive lies in.
const FOLDER: &str = "mooring-bundle";

/// A file for the archive, without secrets.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) why: String,
    /// How long it was before anything was masked or cut.
    pub(crate) original: u64,
    pub(crate) is_cut: bool,
    pub(crate) redactions: usize,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) entries: Vec<Entry>,
    /// What was left out, and why.
    pub(crate) left_out: Vec<(String, String)>,
}

impl Contents {
    /// How many masks were put in, in all files.
    pub(crate) fn redactions(&self) -> usize {
        self.entries.iter().map(|entry| entry.redactions).sum()
    }

    /// The archive. No clock, no owner and no name of this machine is in it.
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
                "originalBytes": entry.original,
                "redactions": entry.redactions,
                "sha256": hex(digest(&SHA256, &entry.bytes).as_ref()),
            });
            if entry.is_cut {
                file["cut"] = json!("only the end is here");
            }
            file
        });
        let left_out = self.left_out.iter().map(|(path, why)| json!({"path": path, "why": why}));
        json!({
            "schema": "mooring.bundle/v1",
            "madeBy": format!("mooring {}", env!("CARGO_PKG_VERSION")),
            "files": files.collect::<Vec<_>>(),
            "leftOut": left_out.collect::<Vec<_>>(),
        })
    }
}

fn add(archive: &mut Builder<impl io::Write>, path: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o600);
    archive.append_data(&mut header, format!("{FOLDER}/{path}"), bytes)
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
    fn masks_of_all_files_are_added_up() {
        let entries = [2, 0, 3].map(|redactions| Entry {
            path: "a.log".to_owned(),
            why: "a log".to_owned(),
            original: 1,
            is_cut: false,
            redactions,
            bytes: Vec::new(),
        });
        let contents = Contents { entries: entries.into(), left_out: Vec::new() };
        assert_eq!(contents.redactions(), 5);
    }
}
