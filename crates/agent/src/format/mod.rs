//! Formats that other tools read: events, times, and the texts of Go.

pub(crate) mod event;
pub(crate) mod go_text;
pub(crate) mod time;
