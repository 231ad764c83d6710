//! Files of the archive, with secrets redacted.

use mooring_redact::Redactor;
use serde_json::Value;

use super::super::archive::{ArchivedFile, Contents, FileOrigin};
use super::super::redact::redact;
use crate::output;
use crate::output::failure::CommandFailure;

/// Bytes kept of a text; the end of a log has the failure.
const MAX_TEXT: usize = 1 << 20;

/// A file to be added.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileTarget<'a> {
    pub(super) part: FileOrigin,
    pub(super) label: &'a str,
    pub(super) path: &'a str,
    pub(super) why: &'a str,
}

impl FileTarget<'_> {
    /// Returns an object as YAML.
    pub(super) fn yaml(self, value: &Value) -> Result<ArchivedFile, CommandFailure> {
        self.document(value, output::yaml)
    }

    /// Returns a document as JSON.
    pub(super) fn json(self, value: &Value) -> Result<ArchivedFile, CommandFailure> {
        self.document(value, |value| Ok(format!("{value:#}\n")))
    }

    /// Adds an object as YAML, or why it is left out.
    pub(super) fn add_yaml(
        self,
        read: Result<Value, String>,
        contents: &mut Contents,
    ) -> Result<(), CommandFailure> {
        self.add(read.map(|value| self.yaml(&value)), contents)
    }

    /// Adds a document as JSON, or why it is left out.
    pub(super) fn add_json(
        self,
        read: Result<Value, String>,
        contents: &mut Contents,
    ) -> Result<(), CommandFailure> {
        self.add(read.map(|value| self.json(&value)), contents)
    }

    /// Adds a text or its end, or why it is left out.
    pub(super) fn add_text(self, read: Result<impl AsRef<str>, String>, contents: &mut Contents) {
        match read {
            Ok(text) => contents.entries.push(self.text(text.as_ref())),
            Err(why) => contents.skip_as(self.path, self.label, why),
        }
    }

    fn add(
        self,
        file: Result<Result<ArchivedFile, CommandFailure>, String>,
        contents: &mut Contents,
    ) -> Result<(), CommandFailure> {
        match file {
            Ok(file) => contents.entries.push(file?),
            Err(why) => contents.skip_as(self.path, self.label, why),
        }
        Ok(())
    }

    fn document(
        self,
        value: &Value,
        render: impl Fn(&Value) -> Result<String, CommandFailure>,
    ) -> Result<ArchivedFile, CommandFailure> {
        let text = value.to_string();
        let redacted = redact(&Redactor::new([""; 0]), text.as_bytes());
        let bytes = match serde_json::from_slice::<Value>(&redacted.bytes) {
            Ok(value) => render(&value)?.into_bytes(),
            // Too deep to be redacted as JSON.
            Err(_) => redacted.bytes,
        };
        Ok(self.entry(bytes, text.len(), redacted.redactions))
    }

    /// Returns a text, or its end.
    pub(super) fn text(self, text: &str) -> ArchivedFile {
        // The node's secrets are unknown here; only patterns apply.
        let redacted = redact(&Redactor::new([""; 0]), text.as_bytes());
        let mut bytes = redacted.bytes;
        let is_truncated = bytes.len() > MAX_TEXT;
        if is_truncated {
            let from = bytes.len() - MAX_TEXT;
            let line = bytes[from..].iter().position(|&byte| byte == b'\n').unwrap_or_default();
            bytes.drain(..=from + line);
        }
        let entry = self.entry(bytes, text.len(), redacted.redactions);
        ArchivedFile { is_truncated, ..entry }
    }

    fn entry(self, bytes: Vec<u8>, original: usize, redactions: usize) -> ArchivedFile {
        ArchivedFile {
            part: self.part,
            label: self.label.to_owned(),
            path: self.path.to_owned(),
            why: self.why.to_owned(),
            original_bytes: original as u64,
            is_truncated: false,
            redactions,
            bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TARGET: FileTarget<'_> =
        FileTarget { part: FileOrigin::Azure, label: "VM", path: "vm.json", why: "VM" };

    #[test]
    fn documents_stay_valid_without_their_secrets() {
        let value = json!({"a": {"password": "hunter-two"}, "text": "x\nTOKEN=hunter-two y"});
        for entry in [TARGET.json(&value).unwrap(), TARGET.yaml(&value).unwrap()] {
            let text = String::from_utf8(entry.bytes).unwrap();
            let read: Value = serde_saphyr::from_str(&text).unwrap();
            assert_eq!(read["a"]["password"], "[secret]", "{text}");
            assert!(!text.contains("hunter-two") && entry.redactions == 2, "{text}");
        }
    }

    #[test]
    fn long_text_keeps_its_end() {
        let entry = TARGET.text(&format!("{}\nend\n", "line\n".repeat(300_000)));
        assert!(entry.is_truncated && entry.bytes.len() <= MAX_TEXT);
        assert!(entry.bytes.starts_with(b"line\n") && entry.bytes.ends_with(b"\nend\n"));
        let fitting = TARGET.text(&"x".repeat(MAX_TEXT));
        assert!(!fitting.is_truncated && fitting.bytes.len() == MAX_TEXT);
        let one_line = TARGET.text(&"x".repeat(MAX_TEXT + 9));
        assert!(one_line.is_truncated && one_line.bytes.len() == MAX_TEXT - 1);
    }
}
