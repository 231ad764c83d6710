//! Bootstrap report of a node: the JSON in `provision.json`, which the Custom Script
//! Extension returns to Azure in its `[stdout]`.
//!
//! The reader is lenient, since three generations of scripts have written it; the writer is exact, since
//! other tools read it.

mod read;
mod status;
mod timings;
mod truncate;
mod write;

pub use read::ReadError;
pub use status::{CseStatus, NoCode};
pub use timings::Timings;
pub use truncate::EXTENSION_WINDOW;
