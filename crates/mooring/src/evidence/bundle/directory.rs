//! Bundle of a node whose disk is accessible: the allowed files below its root.

use mooring_agent::inputs;
use mooring_contract::node_config;
use mooring_redact::Redactor;

use super::allowlist::{ALLOWED, EXCLUDED, NBC_COMMAND, NODE_CONFIG};
use super::archive::{ArchivedFile, Contents, FileOrigin, end_of};
use super::redact::redact;
use super::root::{FileReadError, ReadFile, Root, skipped};

/// Bytes read of a file.
const MAX_READ: u64 = 64 << 20;
/// Bytes kept of a file.
const MAX_KEPT: usize = 4 << 20;
/// Bytes of an unpacked bundle; the limit of attachments to support cases.
const MAX_TOTAL: usize = 64 << 20;
/// Directory entries read per pattern.
const MAX_MATCHES: usize = 5000;
/// Bytes dropped at the start of a file that was not read from its start: a secret may be cut in half there.
const MARGIN: usize = 64 << 10;

/// Collects the allowed files below a node's root.
pub(super) fn collect(root: &Root) -> Contents {
    let mut contents = Contents::default();
    let redactor = redactor(root, &mut contents);
    let mut free = MAX_TOTAL;
    for (pattern, why) in ALLOWED {
        let paths = match root.matching(pattern, MAX_MATCHES) {
            Ok(paths) => paths,
            Err(FileReadError::Missing) => continue,
            Err(FileReadError::Skipped(why)) => {
                contents.skip(pattern, why);
                continue;
            }
        };
        for path in paths {
            let read = root.read(&path, MAX_READ);
            let added =
                read.and_then(|read| entry(&redactor, &path, why, &read, free).map_err(skipped));
            match added {
                Ok(entry) => {
                    free -= entry.bytes.len();
                    contents.entries.push(entry);
                }
                Err(FileReadError::Missing) => {}
                Err(FileReadError::Skipped(why)) => contents.skip(&path, why),
            }
        }
    }
    for (path, why) in EXCLUDED {
        contents.skip(path, *why);
    }
    contents
}

/// A redactor for the secrets that custom data left on the node.
fn redactor(root: &Root, contents: &mut Contents) -> Redactor {
    let mut read = |path: &str| match root.read(path, MAX_READ) {
        Ok(read) => read.bytes,
        Err(FileReadError::Missing) => Vec::new(),
        Err(FileReadError::Skipped(why)) => {
            // Its secrets are then only redacted by pattern.
            contents.skip(path, format!("cannot read its secrets: {why}"));
            Vec::new()
        }
    };
    let (config, command) = (read(NODE_CONFIG), read(NBC_COMMAND));
    if !config.is_empty()
        && let Err(error) = node_config::parse(&config)
    {
        let why = format!(
            "not a valid node config ({}): secrets were only redacted by pattern, and some may remain",
            error.position
        );
        contents.skip(NODE_CONFIG, why);
    }
    Redactor::new([inputs::in_config(&config), inputs::in_nbc_command(&command)].concat())
}

fn entry(
    redactor: &Redactor,
    path: &str,
    why: &str,
    read: &ReadFile,
    free: usize,
) -> Result<ArchivedFile, &'static str> {
    if read.bytes.contains(&0) {
        return Err("not a text file");
    }
    let redacted = redact(redactor, &read.bytes);
    let was_cut = read.size > read.bytes.len() as u64;
    let whole = redacted.bytes.len();
    let bytes = tail(redacted.bytes, was_cut);
    if bytes.len() > free {
        return Err("the size limit of the bundle is reached");
    }
    Ok(ArchivedFile {
        part: FileOrigin::Node,
        label: String::new(),
        path: path.to_owned(),
        why: why.to_owned(),
        original_bytes: read.size,
        is_truncated: bytes.len() < whole,
        redactions: redacted.redactions,
        bytes,
    })
}

/// Returns the part of a redacted file that is kept.
fn tail(bytes: Vec<u8>, was_cut: bool) -> Vec<u8> {
    let margin = if was_cut { MARGIN.min(bytes.len()) } else { 0 };
    let from = bytes.len().saturating_sub(MAX_KEPT).max(margin);
    end_of(bytes, from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_a_text_starts_with_a_line() {
        assert_eq!(tail(b"a\nb".to_vec(), false), b"a\nb");
        let whole = vec![b'x'; MAX_KEPT];
        assert_eq!(tail(whole.clone(), false), whole);
        let long = [b"first\nsecond\n", &whole[..MAX_KEPT - 9]].concat();
        let kept = tail(long, false);
        assert_eq!(kept, [b"second\n", &whole[..MAX_KEPT - 9]].concat());
        let line = [b"xx", &whole[..]].concat();
        assert_eq!(tail(line, false).len(), MAX_KEPT, "it is one line");
        // A secret may be cut in half at the start.
        let cut = [&whole[..MARGIN], b"yy\nzz"].concat();
        assert_eq!(tail(cut, true), b"zz");
        assert_eq!(tail(whole[..MARGIN - 1].to_vec(), true), b"");
    }

    #[test]
    fn file_must_be_text_and_fit_into_the_bundle() {
        let read = |bytes: &[u8], size| ReadFile { bytes: bytes.to_vec(), size };
        let entry = |read: &ReadFile, free| {
            let entry = entry(&Redactor::new([""; 0]), "p", "w", read, free);
            entry.map(|entry| (entry.bytes.len(), entry.is_truncated, entry.original_bytes))
        };
        assert_eq!(entry(&read(b"four", 4), 4), Ok((4, false, 4)));
        let full = Err("the size limit of the bundle is reached");
        assert_eq!(entry(&read(b"four", 4), 3), full);
        assert_eq!(entry(&read(b"\0", 1), 4), Err("not a text file"));
        let end = [&vec![b'x'; MARGIN][..], b"\nend"].concat();
        assert_eq!(entry(&read(&end, 1 << 30), 4), Ok((3, true, 1 << 30)));
        assert_eq!(entry(&read(&end, end.len() as u64), end.len()).map(|one| one.1), Ok(false));
    }
}
