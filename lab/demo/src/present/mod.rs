//! Results of a scenario: as data, in the terminal and as a page.

pub(crate) mod output;
pub(crate) mod report;
pub(crate) mod result;
pub(crate) mod wrap;
