//! The command line.

mod command;
mod flags;
mod help;
mod parser;
mod registry_login;

pub(crate) use command::{
    Command, Invocation, OutputFormat, PreflightFlags, PreflightStage, ProvisionFlags, RenderFlags,
    Rendered, UsageError,
};
pub(crate) use help::general as general_help;
pub(crate) use parser::read;
