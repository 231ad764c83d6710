//! Answers about a cluster: documents and screens of `mooring status` and `mooring fleet`.

mod common;
mod fleet;
mod status;

pub(crate) use fleet::fleet;
pub(crate) use status::status;
