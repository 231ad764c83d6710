//! Output to stdout and stderr.

use std::io::{self, Write as _};

use mooring_redact::printable_lines;
use serde::Serialize;

use crate::output::failure::Failure;

/// Prints text to stdout, without terminal control characters, since much of it comes from elsewhere. A closed pipe is
/// not an error.
pub(crate) fn print(text: &[u8]) -> Result<(), Failure> {
    print_raw(printable_lines(&String::from_utf8_lossy(text)).as_bytes())
}

/// Prints names to stdout, one per line.
pub(crate) fn print_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(), Failure> {
    let mut text = String::new();
    for name in names {
        text.push_str(name);
        text.push('\n');
    }
    print(text.as_bytes())
}

/// Prints binary data, or text that is already safe, to stdout.
pub(crate) fn print_raw(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Prints a message to stderr, without terminal control characters.
#[expect(clippy::print_stderr, reason = "messages go to stderr")]
pub(crate) fn print_note(text: &str) {
    eprintln!("{}", printable_lines(text));
}

pub(crate) fn print_warning(text: &str) {
    if crate::output::is_quiet() {
        return;
    }
    print_note(&format!("warning: {text}"));
}

pub(crate) fn json(value: &impl Serialize) -> Result<String, Failure> {
    mooring_workflow::published::to_json(value).map_err(|error| Failure::io(error.to_string()))
}

pub(crate) use mooring_workflow::published::escape_hidden;
