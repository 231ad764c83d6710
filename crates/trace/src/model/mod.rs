//! A timeline as data: spans, their tree and critical path, and production durations of the same steps.

pub(crate) mod critical_path;
pub mod life;
pub mod production;
pub(crate) mod steps;
pub mod timeline;
pub(crate) mod tree;
