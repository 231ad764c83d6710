//! The list, entry by entry.

use super::entry::{WriteFile, read_entry};
use super::lines::{Lines, at, indent};

/// Custom data is limited to 64 KiB; decoded, it is some ten times that.
pub(in crate::hotfix) const MAX_YAML_BYTES: u64 = 4 << 20;
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
