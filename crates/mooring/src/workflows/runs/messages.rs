//! Messages of a run on stderr.

use std::io::Write as _;

use mooring_terminal::Screen;

use crate::output;
use crate::output::{show, with_commands};

/// Writes a message to stderr.
pub(crate) fn write(text: &str) {
    write_raw(&show::message(text));
}

/// Writes a screen to stderr.
pub(crate) fn write_screen(screen: &Screen) {
    write_raw(&with_commands(&screen.render(&output::message_style())));
}

/// Writes to stderr. A closed stderr does not stop a run.
pub(super) fn write_raw(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
