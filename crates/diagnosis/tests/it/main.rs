//! Tests of diagnoses beyond the corpus.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod behavior;
mod boundaries;
mod context;
#[path = "../corpus/reader.rs"]
mod corpus;
mod fleet;
mod known_by;
mod messages;
mod properties;
mod sentences;
