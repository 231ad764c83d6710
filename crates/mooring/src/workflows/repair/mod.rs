//! `mooring repair`: wiring. Decisions are in `mooring-repair`.

mod apply;
mod arguments;
mod command;
mod context;
mod failures;
mod pipeline;
mod resume;
mod session;
mod settings;
mod show;
mod status;

pub(crate) use arguments::RepairArguments;
pub(crate) use command::repair;
