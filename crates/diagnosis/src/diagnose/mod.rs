//! Diagnoses of decoded messages and wordings.

pub(crate) mod alone;
pub(crate) mod code;
mod coded;
pub(crate) mod components;
mod error_codes;
pub(crate) mod evidence;
pub(crate) mod failures;
mod found_clues;
mod http_status;
pub(crate) mod pages;
pub(crate) mod recognize;
#[cfg(test)]
mod removal;
mod rules;
mod scope;
mod sentence;
pub(crate) mod stream;
mod wording_case;
mod wordings;
