//! The command line.

mod command;
mod flags;
mod help;
mod parser;
mod registry_login;

pub(crate) use command::{
    Command, Invocation, OutputFormat, PreflightFlags, ProvisionFlags, RenderFlags, Rendered,
    Stage, UsageError,
};
pub(crate) use help::{Topic, text as help_text};
pub(crate) use parser::read;
