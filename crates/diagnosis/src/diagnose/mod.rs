//! Diagnoses of decoded messages and wordings.

pub(crate) mod alone;
pub(crate) mod code;
pub(crate) mod evidence;
pub(crate) mod failures;
mod found_clues;
pub(crate) mod pages;
pub(crate) mod recognize;
#[cfg(test)]
mod removal;
mod rule;
mod rules;
pub(crate) mod stream;
mod tables;
mod wording_case;
mod wordings;
