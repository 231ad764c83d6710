//! The `write_files` list of custom data: exactly the YAML that AgentBaker renders, and nothing else.
//!
//! Comments, other top-level keys (skipped), entries of five known keys, plain and quoted words, `|` blocks and
//! `!!binary`. Anchors, flow collections, folded blocks and unknown keys are errors: a file that is only almost understood
//! is not written.

#[cfg(test)]
mod tests;

use std::io::Read as _;

use flate2::Crc;
use flate2::bufread::MultiGzDecoder;
use mooring_redact::identifier;

use crate::format::decode_base64;

/// Custom data is limited to 64 KiB; decoded, it is some ten times that.
pub(super) const MAX_YAML_BYTES: u64 = 4 << 20;
/// Real lists have some thirty entries.
const MAX_FILES: usize = 256;
const MAX_TOTAL_BYTES: usize = 16 << 20;

/// Reads the list; the error contains the line and the problem.
pub fn read(text: &[u8]) -> Result<Vec<WriteFile>, String> {
    let text = std::str::from_utf8(text).map_err(|_| "not UTF-8".to_owned())?;
    let mut lines = Lines { rest: text.lines().enumerate().peekable() };
    let mut files: Option<Vec<WriteFile>> = None;
    while let Some((number, line)) = lines.next_significant()? {
        let key = top_level_key(line).ok_or_else(|| at(number, "expected a key at the margin"))?;
        if key.0 == "write_files" {
            if files.is_some() {
                return Err(at(number, "duplicate write_files"));
            }
            files = Some(match key.1 {
                "" => read_list(&mut lines)?,
                "[]" => Vec::new(),
                _ => return Err(at(number, "write_files is not a list of entries")),
            });
        } else {
            lines.skip_value();
        }
    }
    Ok(files.unwrap_or_default())
}

/// `key: value` at the margin; the value may be missing, and a comment may follow.
fn top_level_key(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_name = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let value = value.split(" #").next().unwrap_or_default();
    (is_name && (value.is_empty() || value.starts_with(' '))).then(|| (key, value.trim()))
}

fn read_list(lines: &mut Lines<'_>) -> Result<Vec<WriteFile>, String> {
    let mut files = Vec::new();
    let Some(margin) = lines.peek_significant().map(indent) else { return Ok(files) };
    let mut total = 0;
    while let Some(line) = lines.peek_significant() {
        if indent(line) != margin || !line[margin..].starts_with("- ") {
            // A key at the margin ends the list; anything else is part of no entry.
            if indent(line) == 0 && !line.starts_with('-') {
                break;
            }
            return Err("an entry of write_files that does not begin with `- `".to_owned());
        }
        if files.len() == MAX_FILES {
            return Err(format!("more than {MAX_FILES} entries"));
        }
        let file = read_entry(lines, margin)?;
        total += file.content.len();
        if total > MAX_TOTAL_BYTES {
            return Err(format!("more than {MAX_TOTAL_BYTES} bytes in all"));
        }
        files.push(file);
    }
    Ok(files)
}

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

/// The keys that an entry can have.
const KEYS: [&str; 5] = ["path", "permissions", "owner", "encoding", "content"];

fn read_entry(lines: &mut Lines<'_>, margin: usize) -> Result<WriteFile, String> {
    let depth = margin + 2;
    let mut values = [const { None }; KEYS.len()];
    let mut first = None;
    while let Some(line) = lines.peek_significant() {
        if first.is_some() && indent(line) != depth {
            break;
        }
        let Some((number, line)) = lines.next_significant()? else { break };
        first.get_or_insert(number);
        let (key, value) =
            line[depth..].split_once(':').ok_or_else(|| at(number, "expected a key"))?;
        let known = values.iter_mut().zip(KEYS).find(|(_, known)| *known == key);
        let Some((slot, _)) = known else {
            return Err(at(number, &format!("unknown key {}", identifier(key))));
        };
        if slot.is_some() {
            return Err(at(number, &format!("duplicate {key}")));
        }
        *slot = Some(read_value(lines, number, value, depth)?);
    }
    let number = first.unwrap_or_default();
    decode(values).map_err(|error| at(number, &error))
}

fn read_value(
    lines: &mut Lines<'_>,
    number: usize,
    value: &str,
    depth: usize,
) -> Result<Vec<u8>, String> {
    if !value.is_empty() && !value.starts_with(' ') {
        return Err(at(number, "expected a blank after the key"));
    }
    let value = value.trim();
    let (is_binary, value) = match value.strip_prefix("!!binary") {
        Some(rest) if rest.starts_with(' ') => (true, rest.trim_start()),
        Some(_) => return Err(at(number, "unknown tag")),
        None => (false, value),
    };
    let text = match value {
        "|" => lines.block(depth, Chomp::Clip)?,
        "|-" => lines.block(depth, Chomp::Strip)?,
        "|+" => lines.block(depth, Chomp::Keep)?,
        _ => scalar(value).ok_or_else(|| at(number, "a value that is not understood"))?,
    };
    if !is_binary {
        return Ok(text.into_bytes());
    }
    decode_base64(text.as_bytes()).ok_or_else(|| at(number, "!!binary without base64"))
}

/// A word on one line, plain or quoted.
fn scalar(value: &str) -> Option<String> {
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote) {
            let (word, behind) = rest.split_once(quote)?;
            let is_plain = !word.contains('\\') || quote == '\'';
            let ends = behind.is_empty()
                || behind.trim_start().starts_with('#') && behind.starts_with(' ');
            return (is_plain && ends).then(|| word.to_owned());
        }
    }
    let word = value.split(" #").next().unwrap_or_default().trim_end();
    // Characters that begin something else than a plain word.
    let is_plain = !word
        .starts_with(['&', '*', '!', '|', '>', '%', '@', '`', '[', '{', ',', '?', '#', '-'])
        && !word.contains(": ")
        && !word.ends_with(':');
    let is_null = matches!(word, "~" | "null" | "Null" | "NULL");
    is_plain.then(|| if is_null { String::new() } else { word.to_owned() })
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

struct Lines<'a> {
    rest: std::iter::Peekable<std::iter::Enumerate<std::str::Lines<'a>>>,
}

impl<'a> Lines<'a> {
    /// The next line that is neither blank nor a comment.
    fn next_significant(&mut self) -> Result<Option<(usize, &'a str)>, String> {
        self.peek_significant();
        let found = self.rest.next();
        if let Some((number, line)) = found
            && line.contains(['\t', '\r', '\0'])
        {
            return Err(at(number, "a tab, carriage return or NUL"));
        }
        Ok(found)
    }

    fn peek_significant(&mut self) -> Option<&'a str> {
        let is_passed = |line: &str| is_blank(line) || line.trim_start().starts_with('#');
        while self.rest.next_if(|(_, line)| is_passed(line)).is_some() {}
        self.rest.peek().map(|(_, line)| *line)
    }

    /// Passes over everything up to the next key at the margin.
    fn skip_value(&mut self) {
        let is_inside = |line: &str| {
            is_blank(line) || line.starts_with([' ', '#', '-', '\t']) && !line.starts_with("---")
        };
        while self.rest.next_if(|(_, line)| is_inside(line)).is_some() {}
    }

    /// A literal block that is indented deeper than `parent`.
    fn block(&mut self, parent: usize, chomp: Chomp) -> Result<String, String> {
        let mut depth = None;
        let mut content = String::new();
        let mut blanks = 0;
        while let Some(&(number, line)) = self.rest.peek() {
            if is_blank(line) {
                let beyond = depth.and_then(|depth| line.get(depth..)).unwrap_or_default();
                if beyond.is_empty() {
                    blanks += 1;
                } else {
                    content.extend(std::iter::repeat_n('\n', std::mem::take(&mut blanks)));
                    content.push_str(beyond);
                    content.push('\n');
                }
                self.rest.next();
                continue;
            }
            let own = indent(line);
            let depth = *depth.get_or_insert(own);
            if depth <= parent || own < depth {
                if own > parent {
                    return Err(at(number, "a line of a block is indented less than the first"));
                }
                break;
            }
            if line.contains(['\r', '\0']) {
                return Err(at(number, "a carriage return or NUL"));
            }
            content.extend(std::iter::repeat_n('\n', std::mem::take(&mut blanks)));
            content.push_str(&line[depth..]);
            content.push('\n');
            self.rest.next();
        }
        match chomp {
            Chomp::Clip => {}
            Chomp::Strip => content.truncate(content.trim_end_matches('\n').len()),
            Chomp::Keep => content.extend(std::iter::repeat_n('\n', blanks)),
        }
        Ok(content)
    }
}

/// The treatment of line ends at the end of a block.
#[derive(Clone, Copy)]
enum Chomp {
    Clip,
    Strip,
    Keep,
}

fn at(number: usize, what: &str) -> String {
    format!("line {}: {what}", number + 1)
}

fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| byte == b' ')
}

fn indent(line: &str) -> usize {
    line.bytes().take_while(|&byte| byte == b' ').count()
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
