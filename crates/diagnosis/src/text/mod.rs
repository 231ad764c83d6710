//! A text made ready for reading: decoded, and scanned once.

pub(crate) mod clues;
mod grams;
mod normalize;
pub(crate) mod phrases;
pub(crate) mod scan;
pub(crate) mod scanned;
pub(crate) mod words;
mod wrapped;
