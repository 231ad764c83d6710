//! Commands about Mooring itself: version, schemas of documents.

pub(crate) mod schema;
pub(crate) mod version;
