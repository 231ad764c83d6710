//! HTML of the page, section by section.

mod card;
mod controller;
mod failures;
mod figures;
mod fleet;
mod frame;
mod joining;
mod page;
mod part;
mod pools;
mod runs;
mod strips;
mod subject;
mod timeline;
mod verdict;

pub use page::{render, render_loading};

#[cfg(test)]
mod tests;
