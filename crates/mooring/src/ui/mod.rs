//! `mooring ui`: the live page of a cluster.

mod arguments;
mod browser;
mod command;
pub(crate) mod feed;
mod leader;
mod local;

pub(crate) use arguments::{HELP, UiArguments};
pub(crate) use command::ui;
