//! HTML of the page, section by section.

mod frame;
mod page;
mod part;
mod sections;
mod subject;
mod verdict;

pub use page::{render, render_loading};

#[cfg(test)]
mod tests;
