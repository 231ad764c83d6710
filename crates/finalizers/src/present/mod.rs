//! Output of a removal: states, JSON documents and screens.

pub mod documents;
pub mod screens;
pub mod status;
