//! `mooring trace`.

mod arguments;
mod command;
pub(crate) mod input;
mod screen;

pub(crate) use arguments::{HELP, TraceArguments};
pub(crate) use command::trace;
