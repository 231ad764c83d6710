//! What the commands that keep a journal share: arguments, confirmation, signals, progress, `--watch` and exit codes.

mod arguments;
mod confirm;
mod drive;
mod progress;
mod watch;

use std::io::Write as _;

use mooring_terminal::Screen;

pub(crate) use crate::cluster::run_status;
use crate::output::{self, show, with_commands};
pub(crate) use arguments::{
    ApprovalArguments, DryRunLimit, JournalArgument, ReadLimit, repeated_flags,
};
pub(crate) use confirm::{
    announce_dry_run, confirm, confirm_protected, ensure_terminal, is_dry_run,
};
pub(crate) use drive::{Signals, exit_code, format_lock, unfinished_result};
pub(crate) use progress::{WAITING, with_progress};
pub(crate) use watch::{
    Frame, RunsReading, WatchRow, Watched, ensure_watchable, is_wrong, watch, watch_runs,
};

/// Writes a message to stderr.
pub(crate) fn write(text: &str) {
    write_raw(&show::message(text));
}

/// Writes a screen to stderr.
pub(crate) fn write_screen(screen: &Screen) {
    write_raw(&with_commands(&screen.render(&output::message_style())));
}

/// Writes to stderr. A closed stderr does not stop a run.
fn write_raw(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
