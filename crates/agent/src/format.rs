//! Texts as the upstream Go agent writes them, which operators, tests and scripts match, and JSON with its rules.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use mooring_contract::json::{Dialect, Error, MAX_DEPTH, Problem, Reader, ValueKind, Writer};

use crate::world::{ChildStatus, ReadFailure};

/// A system error: `no such file or directory`.
pub(crate) fn os_error(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split_once(" (os error ").map_or(text.as_str(), |(text, _)| text);
    // The C library begins with a capital, Go does not; `I/O` is not a word to be lowered.
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(first), Some(second)) if !second.is_uppercase() && second != '/' => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}

/// An operation on a path that failed: `open /a/b: no such file or directory`.
pub(crate) fn path_error(operation: &str, path: &Path, error: &io::Error) -> String {
    format!("{operation} {}: {}", path.display(), os_error(error))
}

pub(crate) fn read_failure(path: &Path, failure: &ReadFailure) -> String {
    match failure {
        ReadFailure::Open(error) => path_error("open", path, error),
        ReadFailure::Read(error) => path_error("read", path, error),
        ReadFailure::TooLarge { limit } => {
            format!("read {}: the file is larger than the {limit} bytes accepted", path.display())
        }
    }
}

/// Formats the end of a process: `exit status 50`, `signal: killed`.
pub(crate) fn child_error(status: ChildStatus) -> Option<String> {
    match status {
        ChildStatus::Exited(0) => None,
        ChildStatus::Exited(code) => Some(format!("exit status {code}")),
        ChildStatus::Signaled { number, core_dumped } => {
            let core = if core_dumped { " (core dumped)" } else { "" };
            Some(format!("signal: {}{core}", signal_name(number)))
        }
    }
}

fn signal_name(number: i32) -> String {
    const NAMES: [&str; 15] = [
        "hangup",
        "interrupt",
        "quit",
        "illegal instruction",
        "trace/breakpoint trap",
        "aborted",
        "bus error",
        "floating point exception",
        "killed",
        "user defined signal 1",
        "segmentation fault",
        "user defined signal 2",
        "broken pipe",
        "alarm clock",
        "terminated",
    ];
    let name = usize::try_from(number - 1).ok().and_then(|index| NAMES.get(index));
    name.map_or_else(|| format!("signal {number}"), |name| (*name).to_owned())
}

/// A text in double quotes, as `%q` prints it.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            _ if is_printable(character) => quoted.push(character),
            _ => {
                // Writing to a `String` cannot fail.
                let _ = match u32::from(character) {
                    code @ ..0x80 => write!(quoted, "\\x{code:02x}"),
                    code @ ..0x1_0000 => write!(quoted, "\\u{code:04x}"),
                    code => write!(quoted, "\\U{code:08x}"),
                };
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Rust's own idea of printable, which `escape_debug` shows. A letter goes before, because a mark at
/// the beginning of a text would be escaped although it can be printed.
fn is_printable(character: char) -> bool {
    let pair: String = ['x', character].iter().collect();
    pair.escape_debug().count() == 2
}

/// Accepts the same as Go's standard decoder: padding, with any bits after the last byte.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Decodes base64 as Go does, which passes over line ends.
pub(crate) fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let text: Vec<u8> = text.iter().copied().filter(|byte| !b"\r\n".contains(byte)).collect();
    BASE64.decode(text).ok()
}

/// Returns the error message of Go's `encoding/json` for a text.
pub(crate) fn json_error(text: &[u8], error: &Error) -> String {
    let context = match &error.problem {
        Problem::UnexpectedEnd => return "unexpected end of JSON input".to_owned(),
        Problem::TooDeep => return "exceeded max depth".to_owned(),
        Problem::Syntax(expected) => match *expected {
            "the end of the text" => "after top-level value",
            "`,` or `}`" => "after object key:value pair",
            "`,` or `]`" => "after array element",
            "`:`" => "after object key",
            "a member's name in quotes" => "looking for beginning of object key string",
            "a number" => "in numeric literal",
            "no raw control character inside a string" => "in string literal",
            "a known escape after the backslash" => "in string escape code",
            "four hexadecimal digits after \\u" => "in \\u hexadecimal character escape",
            _ => "looking for beginning of value",
        },
        other => return other.to_string(),
    };
    match text.get(error.offset) {
        None => "unexpected end of JSON input".to_owned(),
        Some(byte) => format!("invalid character {} {context}", quote_byte(*byte)),
    }
}

fn quote_byte(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        _ => {
            let quoted = quote(char::from(byte).encode_utf8(&mut [0; 4]));
            format!("'{}'", &quoted[1..quoted.len() - 1])
        }
    }
}

/// Returns a reader of one valid document. Go validates the whole text before it checks types.
pub(crate) fn checked(text: &[u8]) -> Result<Reader<'_>, Error> {
    let mut reader = Reader::new(text, Dialect::Go);
    reader.skip(MAX_DEPTH)?;
    reader.end()?;
    Ok(Reader::new(text, Dialect::Go))
}

/// Reads the members of a document that is one object.
pub(crate) fn object(
    text: &[u8],
    read: &mut dyn FnMut(&mut Reader<'_>, &str) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut reader = Reader::new(text, Dialect::Go);
    members(&mut reader, read)?;
    reader.end()
}

/// Reads the members of the object that comes next: `read` gets each name, and reads the value.
pub(crate) fn members(
    reader: &mut Reader<'_>,
    read: &mut dyn FnMut(&mut Reader<'_>, &str) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut members = reader.object()?;
    while let Some(name) = members.next(reader)? {
        read(reader, &name.text)?;
    }
    Ok(())
}

/// Reads the members of the object that comes next; null has none.
pub(crate) fn members_or_null(
    reader: &mut Reader<'_>,
    read: &mut dyn FnMut(&mut Reader<'_>, &str) -> Result<(), Error>,
) -> Result<(), Error> {
    if is_null(reader)? { Ok(()) } else { members(reader, read) }
}

/// Reads a string; null leaves the text as it is.
pub(crate) fn set_string(reader: &mut Reader<'_>, text: &mut String) -> Result<(), Error> {
    if !is_null(reader)? {
        *text = reader.string()?.into_owned();
    }
    Ok(())
}

/// Passes over a null, if that is what comes next.
pub(crate) fn is_null(reader: &mut Reader<'_>) -> Result<bool, Error> {
    let is_null = reader.peek()? == ValueKind::Null;
    if is_null {
        reader.null()?;
    }
    Ok(is_null)
}

/// Writes a member that is a string.
pub(crate) fn write_member(json: &mut Writer, name: &str, value: &str) {
    json.name(name);
    json.string(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_errors_read_as_in_go() {
        let text = |number| os_error(&io::Error::from_raw_os_error(number));
        assert_eq!(text(2), "no such file or directory");
        assert_eq!(text(13), "permission denied");
        assert_eq!(text(21), "is a directory");
        assert_eq!(text(28), "no space left on device");
        assert_eq!(text(30), "read-only file system");
        assert_eq!(text(5), "input/output error");
        let other = |text: &str| os_error(&io::Error::other(text));
        assert_eq!(other("TLS failed"), "TLS failed");
        assert_eq!(other("I/O failed"), "I/O failed");
        assert_eq!(other("A"), "A");
    }

    #[test]
    fn ends_of_programs_read_as_in_go() {
        let signaled = |number| ChildStatus::Signaled { number, core_dumped: false };
        assert_eq!(child_error(ChildStatus::Exited(0)), None);
        assert_eq!(child_error(ChildStatus::Exited(50)).unwrap(), "exit status 50");
        assert_eq!(child_error(signaled(9)).unwrap(), "signal: killed");
        assert_eq!(child_error(signaled(15)).unwrap(), "signal: terminated");
        assert_eq!(child_error(signaled(64)).unwrap(), "signal: signal 64");
        let dumped = ChildStatus::Signaled { number: 6, core_dumped: true };
        assert_eq!(child_error(dumped).unwrap(), "signal: aborted (core dumped)");
    }

    #[test]
    fn quoting_is_that_of_go() {
        assert_eq!(quote("bo\"om\nx\\"), r#""bo\"om\nx\\""#);
        assert_eq!(quote("\x07\x08\x0b\x0c\r\t\x01\x7f"), r#""\a\b\v\f\r\t\x01\x7f""#);
        assert_eq!(
            quote("é e\u{301} \u{a0}\u{200b}\u{e000}\u{1F600}\u{F0000}"),
            "\"é e\u{301} \\u00a0\\u200b\\ue000\u{1F600}\\U000f0000\""
        );
    }

    #[test]
    fn json_errors_read_as_in_go() {
        use mooring_contract::json::{Dialect, MAX_DEPTH, Reader};
        let message = |text: &str| {
            let mut reader = Reader::new(text.as_bytes(), Dialect::Go);
            let error = reader.skip(MAX_DEPTH).and_then(|()| reader.end()).unwrap_err();
            json_error(text.as_bytes(), &error)
        };
        assert_eq!(message(""), "unexpected end of JSON input");
        assert_eq!(message("{"), "unexpected end of JSON input");
        assert_eq!(message("{} x"), "invalid character 'x' after top-level value");
        assert_eq!(message("not-json"), "invalid character 'n' looking for beginning of value");
        assert_eq!(message("{\"a\" 1}"), "invalid character '1' after object key");
        assert_eq!(message("{\"a\":1 2}"), "invalid character '2' after object key:value pair");
        assert_eq!(message("[1 2]"), "invalid character '2' after array element");
        assert_eq!(
            message("{a}"),
            "invalid character 'a' looking for beginning of object key string"
        );
        assert!(message(r#""\x""#).ends_with(" in string escape code"));
        assert!(message(r#""\u00g0""#).ends_with(" in \\u hexadecimal character escape"));
        assert_eq!(message("\"\n\""), r"invalid character '\n' in string literal");
        assert_eq!(message(r#"1 """#), "invalid character '\"' after top-level value");
        assert_eq!(message("1 '"), r"invalid character '\'' after top-level value");
    }
}
