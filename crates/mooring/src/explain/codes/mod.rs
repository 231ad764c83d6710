//! `mooring codes`.

mod command;
pub(crate) mod document;
mod lookup;
mod search;
mod table;

pub(crate) use command::codes;
pub(crate) use lookup::{likely_meanings, parse_code, unknown_code};
