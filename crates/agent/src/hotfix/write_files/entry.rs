//! An entry of the list: a file.

use mooring_redact::identifier;

use super::lines::{Chomp, Lines, at, indent};
use crate::format::go_text::decode_base64;
use crate::hotfix::gzip::decompress_all;

/// The largest real script is below 100 KiB.
pub(super) const MAX_FILE_BYTES: usize = 4 << 20;

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

pub(super) fn read_entry(lines: &mut Lines<'_>, margin: usize) -> Result<WriteFile, String> {
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
