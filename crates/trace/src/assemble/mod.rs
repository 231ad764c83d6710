//! Builds a node's timeline from the data of its files.

mod found;
mod gaps;
mod running;
mod spans;
mod stages;
mod timelines;

pub use timelines::read;
