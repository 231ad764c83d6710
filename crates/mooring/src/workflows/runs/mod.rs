//! Arguments, confirmation, signals, progress, `--watch` and exit codes shared by the commands that keep a journal.

mod arguments;
mod confirm;
pub(crate) mod dry_run;
mod exit;
mod messages;
mod progress;
mod signals;
mod status;
mod watch;

pub(crate) use arguments::{
    ApprovalArguments, DryRunLimit, JournalArgument, ReadLimit, repeated_flags,
};
pub(crate) use confirm::{confirm, confirm_protected, ensure_terminal};
pub(crate) use exit::{exit_code, format_lock, unfinished_result};
pub(crate) use messages::{write, write_screen};
pub(crate) use progress::{ProgressOutput, WAITING, print_once, with_progress};
pub(crate) use signals::Signals;
pub(crate) use status::{RunsReading, is_wrong, watch_runs};
pub(crate) use watch::{Frame, WatchRow, Watched, ensure_watchable, watch};

pub(crate) use crate::cluster::run_status;
