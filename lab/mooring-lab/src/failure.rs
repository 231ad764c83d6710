//! Error of a command, and output.

use std::io::{self, IsTerminal, Write as _};
use std::os::fd::AsFd;
use std::process::ExitCode;

use mooring_demo::DemoError;
use mooring_terminal::{Style, wrap_message};

/// Message with hints, and exit code.
#[derive(Debug)]
pub(crate) struct LabFailure {
    text: String,
    exit_code: u8,
}

impl LabFailure {
    pub(crate) fn usage(error: &impl ToString) -> Self {
        Self { text: error.to_string(), exit_code: 2 }
    }

    pub(crate) fn io(error: &impl ToString) -> Self {
        Self { text: error.to_string(), exit_code: 3 }
    }

    pub(crate) fn report(&self) -> ExitCode {
        let text = wrap_message(&format!("error: {}", self.text), &style_of(&io::stderr()));
        // Nobody is left to be told of a closed stream.
        let _ = writeln!(io::stderr(), "{text}");
        ExitCode::from(self.exit_code)
    }
}

impl From<io::Error> for LabFailure {
    fn from(error: io::Error) -> Self {
        Self::io(&error)
    }
}

impl From<DemoError> for LabFailure {
    fn from(error: DemoError) -> Self {
        Self { text: format!("demo: {error}"), exit_code: error.exit_code() }
    }
}

/// Prints to stdout. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<(), LabFailure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Returns what a stream can show.
pub(crate) fn style_of(stream: &(impl IsTerminal + AsFd)) -> Style {
    const DEFAULT: usize = 80;
    let size = terminal_size::terminal_size_of(stream);
    let width = size.map_or(DEFAULT, |(width, _)| usize::from(width.0));
    let width = stream.is_terminal().then_some(width);
    Style::new(width, |name| std::env::var(name).ok(), None, None)
}
