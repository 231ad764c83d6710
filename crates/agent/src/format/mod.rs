//! Formats that other tools read: events, times, JSON, and the texts of Go.

pub(crate) mod event;
pub(crate) mod go_text;
pub(crate) mod json;
pub(crate) mod time;
