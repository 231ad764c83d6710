//! Output of commands: style of the streams, formats and JSON documents.

mod arguments;
pub(crate) mod error_document;
pub(crate) mod failure;
mod format;
pub(crate) mod outfile;
pub(crate) mod page;
mod plugin;
pub(crate) mod published;
pub(crate) mod show;

pub(crate) use arguments::{OutputArguments, init, is_live, is_quiet, message_style, style};
pub(crate) use format::{AnswerFormat, PlanFormat};
pub(crate) use plugin::{is_plugin, with_commands};
pub(crate) use show::{print_document, print_markdown, print_screen, yaml};
