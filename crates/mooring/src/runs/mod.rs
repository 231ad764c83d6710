//! Arguments, confirmation, signals, progress and exit codes shared by the commands that keep a journal.

mod arguments;
mod confirm;
pub(crate) mod dry_run;
mod exit;
mod progress;
mod signals;

pub(crate) use arguments::{Approval, JournalArgument};
pub(crate) use confirm::confirm;
pub(crate) use exit::{exit_code, format_lock, journal_flag, unfinished_result};
pub(crate) use progress::{Progress, print_once, with_progress, write};
pub(crate) use signals::{Signals, build_runtime, env_var};
