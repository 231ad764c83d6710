//! Reads the corpus. A file has the cases of a cause or an area: a heading with the case's name, the expected diagnosis as
//! JSON, and between two fences the text, byte for byte.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "included by several programs, some of which need only the texts"
)]

use std::path::Path;
use std::{fs, io};

#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub expected: String,
    pub text: Vec<u8>,
}

/// Returns the cases of all files, sorted by name.
pub fn read(directory: &Path) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "txt") {
            let file = fs::read(path)?;
            let mut rest = file.as_slice();
            while let Some((case, after)) = next(rest) {
                cases.push(case);
                rest = after;
            }
        }
    }
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(cases)
}

fn next(file: &[u8]) -> Option<(Case, &[u8])> {
    let (_, rest) = split(file, b"\n## ")?;
    let (name, rest) = split(rest, b"\n")?;
    let (expected, rest) = split(rest, b"\n~~~~~~~~ text")?;
    let (info, rest) = split(rest, b"\n")?;
    let is_empty = rest.starts_with(b"~~~~~~~~\n");
    let (text, rest) = if is_empty { (&rest[..0], rest) } else { split(rest, b"\n~~~~~~~~\n")? };
    let mut text = text.to_vec();
    // `text, last line open`
    if info.is_empty() && !is_empty {
        text.push(b'\n');
    }
    let string = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((Case { name: string(name), expected: string(expected), text }, rest))
}

/// Returns what is before and after a mark.
fn split<'t>(text: &'t [u8], mark: &[u8]) -> Option<(&'t [u8], &'t [u8])> {
    let at = text.windows(mark.len()).position(|part| part == mark)?;
    Some((&text[..at], &text[at + mark.len()..]))
}
