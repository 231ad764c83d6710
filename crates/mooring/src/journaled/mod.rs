//! What commands over a journal share, whatever the journal is about: arguments, questions, signals, progress, and
//! the words at their end.

mod arguments;
pub(crate) mod dry_run;
mod end;
mod progress;
mod question;
mod signals;

pub(crate) use arguments::{Approval, JournalArgument};
pub(crate) use end::{code, flag, held, in_the_way};
pub(crate) use progress::{Progress, once, patiently, write};
pub(crate) use question::confirm;
pub(crate) use signals::{Signals, environment, runtime, signals};
