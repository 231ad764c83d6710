//! The `write_files` list of custom data.
//!
//! Other top-level keys are skipped. An entry has five known keys with texts or `!!binary`; other keys, lists, aliases and
//! tags are errors: a file that is only almost understood is not written.

#[cfg(test)]
mod tests;

use std::io::Read as _;

use flate2::Crc;
use flate2::bufread::MultiGzDecoder;
use granit_parser::{Event, Parser, ScalarStyle, StrInput};
use mooring_redact::identifier;

use crate::format::decode_base64;

/// Custom data is limited to 64 KiB; decoded, it is some ten times that.
pub(super) const MAX_YAML_BYTES: u64 = 4 << 20;
/// Real lists have some thirty entries.
const MAX_FILES: usize = 256;
const MAX_TOTAL_BYTES: usize = 16 << 20;
/// The largest real script is below 100 KiB.
const MAX_FILE_BYTES: usize = 4 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteFile {
    pub path: String,
    /// The permission bits of the file.
    pub mode: u32,
    /// The content, decoded and decompressed.
    pub content: Vec<u8>,
}

/// Reads the list; the error contains the line and the problem.
pub fn read(text: &[u8]) -> Result<Vec<WriteFile>, String> {
    let text = std::str::from_utf8(text).map_err(|_| "not UTF-8".to_owned())?;
    let mut document = Document { events: Parser::new_from_str(text), line: 1 };
    let mut files = None;
    match document.next()? {
        Event::MappingStart(..) => {}
        // Nothing, or comments alone.
        Event::StreamEnd => return Ok(Vec::new()),
        _ => return Err(document.error("expected keys")),
    }
    while let Some(key) = document.key()? {
        if key != "write_files" {
            document.skip_value()?;
        } else if files.replace(document.files()?).is_some() {
            return Err(document.error("duplicate write_files"));
        }
    }
    match document.next()? {
        Event::StreamEnd => Ok(files.unwrap_or_default()),
        _ => Err(document.error("more than one document")),
    }
}

/// The prefix of the tags that YAML itself has.
const YAML_TAGS: &str = "tag:yaml.org,2002:";

/// The keys that an entry can have.
const KEYS: [&str; 5] = ["path", "permissions", "owner", "encoding", "content"];

/// The document's events, and the line of the last one.
struct Document<'a> {
    events: Parser<'a, StrInput<'a>>,
    line: usize,
}

impl<'a> Document<'a> {
    /// The next event of a value, or the end.
    fn next(&mut self) -> Result<Event<'a>, String> {
        loop {
            let Some(next) = self.events.next() else { return Ok(Event::StreamEnd) };
            let (event, span) = next.map_err(|error| {
                self.line = error.marker().line();
                self.error("not YAML")
            })?;
            self.line = span.start.line();
            match event {
                Event::Scalar(..)
                | Event::Alias(_)
                | Event::SequenceStart(..)
                | Event::SequenceEnd
                | Event::MappingStart(..)
                | Event::MappingEnd
                | Event::StreamEnd => return Ok(event),
                // The document around them, and comments.
                _ => {}
            }
        }
    }

    fn error(&self, what: &str) -> String {
        format!("line {}: {what}", self.line)
    }

    /// The next key of a mapping; `None` at its end.
    fn key(&mut self) -> Result<Option<String>, String> {
        match self.next()? {
            Event::MappingEnd => Ok(None),
            Event::Scalar(key, ..) => Ok(Some(key.into_owned())),
            _ => Err(self.error("expected a key")),
        }
    }

    fn skip_value(&mut self) -> Result<(), String> {
        let mut depth = 0_usize;
        loop {
            match self.next()? {
                Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
                Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
                Event::StreamEnd => return Err(self.error("unexpected end")),
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn files(&mut self) -> Result<Vec<WriteFile>, String> {
        let mut files = Vec::new();
        let mut total = 0;
        match self.next()? {
            Event::SequenceStart(..) => {}
            Event::Scalar(text, ScalarStyle::Plain, ..) if is_null(&text) => return Ok(files),
            _ => return Err(self.error("write_files is not a list of entries")),
        }
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(files),
                Event::MappingStart(..) => {}
                _ => return Err(self.error("an entry of write_files that is no mapping")),
            }
            if files.len() == MAX_FILES {
                return Err(format!("more than {MAX_FILES} entries"));
            }
            let file = self.file()?;
            total += file.content.len();
            if total > MAX_TOTAL_BYTES {
                return Err(format!("more than {MAX_TOTAL_BYTES} bytes in all"));
            }
            files.push(file);
        }
    }

    fn file(&mut self) -> Result<WriteFile, String> {
        let first = self.line;
        let mut values = [const { None }; KEYS.len()];
        while let Some(key) = self.key()? {
            let known = values.iter_mut().zip(KEYS).find(|(_, known)| *known == key);
            let Some((slot, _)) = known else {
                return Err(self.error(&format!("unknown key {}", identifier(&key))));
            };
            if slot.is_some() {
                return Err(self.error(&format!("duplicate {key}")));
            }
            *slot = Some(self.value()?);
        }
        decode(values).map_err(|error| format!("line {first}: {error}"))
    }

    fn value(&mut self) -> Result<Vec<u8>, String> {
        // Without an anchor.
        let Event::Scalar(text, style, 0, tag) = self.next()? else {
            return Err(self.error("a value that is not a text"));
        };
        match tag {
            None if style == ScalarStyle::Plain && is_null(&text) => Ok(Vec::new()),
            None => Ok(text.into_owned().into_bytes()),
            Some(tag) if tag.handle() == YAML_TAGS && tag.suffix() == "binary" => {
                decode_base64(text.as_bytes()).ok_or_else(|| self.error("!!binary without base64"))
            }
            Some(_) => Err(self.error("unknown tag")),
        }
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Decodes the values, which are in the order of [`KEYS`].
fn decode(values: [Option<Vec<u8>>; KEYS.len()]) -> Result<WriteFile, String> {
    let [path, permissions, owner, encoding, content] = values;
    let text = |value: Option<Vec<u8>>, name: &str| {
        String::from_utf8(value.unwrap_or_default()).map_err(|_| format!("{name} is not UTF-8"))
    };
    let path = text(path, "path")?;
    if path.is_empty() {
        return Err("path is required".to_owned());
    }
    let owner = text(owner, "owner")?;
    if !matches!(owner.as_str(), "" | "root") {
        return Err(format!("unsupported owner {}", identifier(&owner)));
    }
    let permissions = text(permissions, "permissions")?;
    let mode = match permissions.as_str() {
        "" => 0o644,
        digits => {
            let is_octal = digits.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
            let mode =
                u32::from_str_radix(digits, 8).ok().filter(|mode| is_octal && *mode <= 0o777);
            mode.ok_or_else(|| format!("unsupported permissions {}", identifier(digits)))?
        }
    };
    let content = content.unwrap_or_default();
    let content = match text(encoding, "encoding")?.as_str() {
        "" => content,
        "gzip" => decompress_all(&content, MAX_FILE_BYTES).map_err(|error| error.to_string())?,
        "base64" => decode_base64(&content).ok_or("content is not base64")?,
        other => return Err(format!("unsupported encoding {}", identifier(other))),
    };
    if content.len() > MAX_FILE_BYTES {
        return Err(format!("larger than {MAX_FILE_BYTES} bytes"));
    }
    Ok(WriteFile { path, mode, content })
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum GzipError {
    #[error("not gzip, or damaged: {0}")]
    Damaged(String),
    #[error("larger than {0} bytes when decompressed")]
    TooLarge(usize),
}

/// Decompresses all members of a file, into `limit` bytes at most.
fn decompress_all(text: &[u8], limit: usize) -> Result<Vec<u8>, GzipError> {
    let mut out = Vec::new();
    // One byte more than allowed distinguishes content of the limit's size from larger content.
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    MultiGzDecoder::new(text)
        .take(most)
        .read_to_end(&mut out)
        .map_err(|error| GzipError::Damaged(error.to_string()))?;
    if out.len() > limit { Err(GzipError::TooLarge(limit)) } else { Ok(out) }
}

pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = Crc::new();
    sum.update(bytes);
    sum.sum()
}
