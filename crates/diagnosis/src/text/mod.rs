//! Input text: normalized, and scanned once.

pub(crate) mod clues;
mod grams;
pub(crate) mod lexer;
mod line_wraps;
mod normalize;
pub(crate) mod phrases;
pub(crate) mod scan;
pub(crate) mod scanned;
