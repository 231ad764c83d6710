//! Tests of diagnoses beyond the corpus.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod boundaries;
mod fleet;
mod promises;
mod properties;
mod surroundings;
