//! `mooring bundle`.

mod allowlist;
pub(crate) mod archive;
mod arguments;
mod command;
mod directory;
pub(crate) mod node;
mod redact;
mod root;
mod screen;

pub(crate) use arguments::{BundleArguments, HELP};
pub(crate) use command::bundle;
