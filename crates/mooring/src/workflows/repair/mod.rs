//! `mooring repair`: wiring. Decisions are in `mooring-repair`.

mod abort;
mod apply;
mod arguments;
mod command;
mod confirm;
mod connect;
mod context;
mod detect;
mod exit;
mod formats;
mod leftover;
mod pipeline;
mod progress;
mod resume;
mod settings;
mod show;
mod status;

pub(crate) use arguments::RepairArguments;
pub(crate) use command::repair;
pub(crate) use show::run_status;
