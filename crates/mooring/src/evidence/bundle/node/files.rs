//! Files of the archive about a name, with secrets redacted.

use mooring_redact::Redactor;
use serde_json::Value;

use super::super::archive::{ArchivedFile, Contents, FileOrigin, end_of};
use super::super::redact::{Redacted, redact};
use crate::output;

/// Bytes kept of a text; the end of a log has the failure.
const MAX_TEXT: usize = 1 << 20;

/// Origin of a file, its name on the screen, and what it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileInfo<'a>(pub(super) FileOrigin, pub(super) &'a str, pub(super) &'a str);

#[derive(Debug)]
pub(super) enum FileContent {
    Json(Value),
    Yaml(Value),
    /// A text, of which the end is kept.
    Text(String),
}

impl Contents {
    /// Adds a file, or why it is left out. The node's secrets are unknown here; only patterns apply.
    pub(super) fn add(
        &mut self,
        info: FileInfo<'_>,
        path: &str,
        read: Result<FileContent, String>,
    ) {
        match read.and_then(|content| file(info, path, &content)) {
            Ok(file) => self.entries.push(file),
            Err(why) => self.skip_as(path, info.1, why),
        }
    }
}

fn file(
    FileInfo(part, label, why): FileInfo<'_>,
    path: &str,
    content: &FileContent,
) -> Result<ArchivedFile, String> {
    let text = match content {
        FileContent::Json(value) | FileContent::Yaml(value) => value.to_string(),
        FileContent::Text(text) => text.clone(),
    };
    let Redacted { bytes, redactions } = redact(&Redactor::new([""; 0]), text.as_bytes());
    let whole = bytes.len();
    let mut is_truncated = false;
    let bytes = match (content, serde_json::from_slice::<Value>(&bytes)) {
        (FileContent::Json(_), Ok(value)) => format!("{value:#}\n").into_bytes(),
        (FileContent::Yaml(_), Ok(value)) => {
            output::yaml(&value).map_err(|failure| failure.first_line())?.into_bytes()
        }
        // Too deep to be redacted as JSON.
        (FileContent::Json(_) | FileContent::Yaml(_), Err(_)) => bytes,
        (FileContent::Text(_), _) => {
            is_truncated = whole > MAX_TEXT;
            end_of(bytes, whole.saturating_sub(MAX_TEXT))
        }
    };
    Ok(ArchivedFile {
        part,
        label: label.to_owned(),
        path: path.to_owned(),
        why: why.to_owned(),
        original_bytes: text.len() as u64,
        is_truncated,
        redactions,
        bytes,
    })
}

/// Returns `name` as a safe file name.
pub(crate) fn file_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let plain: String = name.chars().take(100).map(|c| if is_plain(c) { c } else { '-' }).collect();
    if plain.is_empty() { "node".to_owned() } else { plain }
}

/// Returns true for a name that is one segment of a path.
pub(super) fn is_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    !text.is_empty() && !text.starts_with('.') && text.len() <= 253 && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn added(content: FileContent) -> ArchivedFile {
        let mut contents = Contents::default();
        contents.add(FileInfo(FileOrigin::Azure, "VM", "VM"), "vm.json", Ok(content));
        contents.entries.remove(0)
    }

    #[test]
    fn documents_stay_valid_without_their_secrets() {
        let value = json!({"a": {"password": "hunter-two"}, "text": "x\nTOKEN=hunter-two y"});
        for content in [FileContent::Json(value.clone()), FileContent::Yaml(value)] {
            let entry = added(content);
            let text = String::from_utf8(entry.bytes).unwrap();
            let read: Value = serde_saphyr::from_str(&text).unwrap();
            assert_eq!(read["a"]["password"], "[secret]", "{text}");
            assert!(!text.contains("hunter-two") && entry.redactions == 2, "{text}");
        }
    }

    #[test]
    fn long_text_keeps_its_end() {
        let text = |text: String| added(FileContent::Text(text));
        let entry = text(format!("{}\nend\n", "line\n".repeat(300_000)));
        assert!(entry.is_truncated && entry.bytes.len() <= MAX_TEXT);
        assert!(entry.bytes.starts_with(b"line\n") && entry.bytes.ends_with(b"\nend\n"));
        for (length, is_truncated) in [(MAX_TEXT, false), (MAX_TEXT + 9, true)] {
            let entry = text("x".repeat(length));
            assert_eq!((entry.is_truncated, entry.bytes.len()), (is_truncated, MAX_TEXT));
        }
    }

    #[test]
    fn names_cannot_leave_their_path() {
        for name in ["default-1", "aks-system-1-vmss000003", "a.b_c"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "..", "a/b", "a?b=c", "a%2fb", "é", ".hidden"] {
            assert!(!is_name(name), "{name}");
        }
        assert!(is_name(&"n".repeat(253)) && !is_name(&"n".repeat(254)));
        assert_eq!(file_name("../a b"), "---a-b");
        assert_eq!(file_name("a-b_C9"), "a-b_C9");
        assert_eq!(file_name(""), "node");
    }
}
