//! Commands about Mooring itself: version, schemas of documents, manual pages, shell completions.

pub(crate) mod completions;
pub(crate) mod man;
mod man_page;
pub(crate) mod schema;
pub(crate) mod version;
