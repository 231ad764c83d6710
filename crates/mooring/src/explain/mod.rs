//! `mooring explain`.

mod arguments;
pub(crate) mod codes;
mod command;
mod document;
mod explanation;
mod input;
mod occurrences;
mod pages;
mod show;
mod subject;

pub(crate) use arguments::{CodesArguments, EXPLAIN_EXAMPLES, ExplainArguments};
pub(crate) use command::explain;
