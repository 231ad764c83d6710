//! `mooring finalizers`: wiring. Decisions are in `mooring-finalizers`.

mod arguments;
mod change;
mod command;
mod exit;
mod session;
mod settings;
mod show;
mod status;
mod target;

pub(crate) use arguments::FinalizersArguments;
pub(crate) use command::finalizers;
