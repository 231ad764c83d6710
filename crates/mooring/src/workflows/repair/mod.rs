//! `mooring repair`: wiring. Decisions are in `mooring-repair`.

mod arguments;
mod command;
mod commands;
mod confirm;
mod context;
mod exit;
mod formats;
mod leftover;
mod progress;
mod session;
mod settings;
mod show;

pub(crate) use arguments::RepairArguments;
pub(crate) use command::repair;
