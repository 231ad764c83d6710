//! Output of a repair: reports, JSON documents and screens.

pub mod documents;
pub mod report;
pub mod screens;
