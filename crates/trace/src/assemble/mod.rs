//! Builds a node's timeline from the data of its files.

mod gaps;
mod running;
mod spans;
mod stages;
mod timelines;

pub use timelines::read;
