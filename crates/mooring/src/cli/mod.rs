//! Command line: the one source of parsing, help, completions and manual pages.

mod completions;
pub(crate) mod dispatch;
mod man;
mod man_page;
mod names;
pub(crate) mod parser;
