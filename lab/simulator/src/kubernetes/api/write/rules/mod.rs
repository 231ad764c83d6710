//! Validation of built-in objects, as far as clients meet it.

mod events;
mod kinds;
mod maps;

pub(crate) use kinds::check;
pub(crate) use maps::check_readable;
