//! Screens of `detect`, `plan` and the runs.

mod detection;
mod plan;
mod runs;

pub use detection::detection;
pub use plan::plan;
pub use runs::{run_markdown, run_sentence, runs};
