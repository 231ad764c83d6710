//! HTML of the page, section by section.

mod page;
mod sections;
mod subject;
mod verdict;

pub use page::{render, render_loading};

#[cfg(test)]
mod tests;
