//! Output of a removal: reports, JSON documents and screens.

pub mod documents;
pub mod report;
pub mod screens;
pub(crate) mod status;
