//! Reproducible archive of a bundle.

use std::io;

use data_encoding::HEXLOWER;
use flate2::{Compression, GzBuilder};
use mooring_workflow::published::{ClusterIdentity, Source};
use ring::digest::{SHA256, digest};
use serde::Serialize;
use serde_json::{Value, json};
use tar::{Builder, Header};

use crate::output::error_document::generated_at;

pub(crate) const SCHEMA: &str = "mooring.bundle/v1";

/// Top-level directory of the archive.
pub(crate) const DIRECTORY: &str = "mooring-bundle";
pub(crate) const MANIFEST: &str = "manifest.json";

/// Origin of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FileOrigin {
    Cluster,
    Azure,
    Mooring,
    Node,
}

/// File of the archive, with secrets redacted.
#[derive(Debug)]
pub(crate) struct ArchivedFile {
    pub(crate) part: FileOrigin,
    /// Name on the screen, such as `NodeClaim` or `14 events`.
    pub(crate) label: String,
    pub(crate) path: String,
    pub(crate) why: String,
    pub(crate) original_bytes: u64,
    pub(crate) is_truncated: bool,
    pub(crate) redactions: usize,
    pub(crate) bytes: Vec<u8>,
}

/// A file that is not in the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct OmittedFile {
    pub(crate) path: String,
    /// Name on the screen.
    #[serde(rename = "what")]
    pub(crate) label: String,
    pub(crate) why: String,
}

/// The document `mooring.bundle/v1`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest<'a> {
    schema: &'static str,
    generated_at: Option<String>,
    cluster: Option<&'a ClusterIdentity>,
    sources: Vec<Source>,
    made_by: &'static str,
    subject: Option<&'a str>,
    archive: Option<Value>,
    files: Vec<Value>,
    left_out: &'a [OmittedFile],
}

#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The name that was given; none for a directory.
    pub(crate) subject: Option<String>,
    pub(crate) cluster: Option<ClusterIdentity>,
    /// Services that were read; none for a directory.
    pub(crate) sources: Vec<Source>,
    pub(crate) entries: Vec<ArchivedFile>,
    pub(crate) skipped: Vec<OmittedFile>,
}

impl Contents {
    pub(crate) fn skip(&mut self, path: &str, why: impl Into<String>) {
        self.skip_as(path, path, why);
    }

    pub(crate) fn skip_as(&mut self, path: &str, label: &str, why: impl Into<String>) {
        self.skipped.push(OmittedFile {
            path: path.to_owned(),
            label: label.to_owned(),
            why: why.into(),
        });
    }

    pub(crate) fn redactions(&self) -> usize {
        self.entries.iter().map(|entry| entry.redactions).sum()
    }

    /// Returns the archive. It contains no timestamps, owners or host names.
    pub(crate) fn pack(&self) -> io::Result<Vec<u8>> {
        let packed = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
        let mut archive = Builder::new(packed);
        let manifest = serde_json::to_string_pretty(&self.manifest(None))? + "\n";
        add(&mut archive, MANIFEST, manifest.as_bytes())?;
        for entry in &self.entries {
            add(&mut archive, &entry.path, &entry.bytes)?;
        }
        archive.into_inner()?.finish()
    }

    /// Returns the document. In the archive it has neither times nor the archive, so that the same files give the same
    /// archive.
    pub(crate) fn manifest(&self, archive: Option<(&str, &[u8])>) -> Manifest<'_> {
        let files = self.entries.iter().map(|entry| {
            json!({
                "path": entry.path,
                "source": entry.part,
                "why": entry.why,
                "bytes": entry.bytes.len(),
                "originalBytes": entry.original_bytes,
                "redactions": entry.redactions,
                "sha256": sha256(&entry.bytes),
                "cut": entry.is_truncated.then_some("only the end is here"),
            })
        });
        let shown = archive.map(
            |(path, bytes)| json!({"path": path, "bytes": bytes.len(), "sha256": sha256(bytes)}),
        );
        let mut sources = self.sources.clone();
        if archive.is_none() {
            for source in &mut sources {
                (source.at, source.seconds) = (None, None);
            }
        }
        Manifest {
            schema: SCHEMA,
            generated_at: archive.map(|_| generated_at()),
            cluster: self.cluster.as_ref(),
            sources,
            made_by: concat!("mooring ", env!("CARGO_PKG_VERSION")),
            subject: self.subject.as_deref(),
            archive: shown,
            files: files.collect(),
            left_out: &self.skipped,
        }
    }
}

fn add(archive: &mut Builder<impl io::Write>, path: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o600);
    archive.append_data(&mut header, format!("{DIRECTORY}/{path}"), bytes)
}

/// Returns the end of a text, from the first line that starts after `from`.
pub(super) fn end_of(mut bytes: Vec<u8>, from: usize) -> Vec<u8> {
    if from > 0 {
        let line = bytes[from..].iter().position(|&byte| byte == b'\n');
        bytes.drain(..line.map_or(from, |at| from + at + 1));
    }
    bytes
}

fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(digest(&SHA256, bytes).as_ref())
}

#[cfg(test)]
mod tests {
    use super::{ArchivedFile, Contents, FileOrigin};

    #[test]
    fn redactions_of_all_files_are_summed() {
        let entries = [2, 0, 3].map(|redactions| ArchivedFile {
            part: FileOrigin::Node,
            label: String::new(),
            path: "a.log".to_owned(),
            why: "a log".to_owned(),
            original_bytes: 1,
            is_truncated: false,
            redactions,
            bytes: Vec::new(),
        });
        let contents = Contents { entries: entries.into(), ..Contents::default() };
        assert_eq!(contents.redactions(), 5);
    }
}
