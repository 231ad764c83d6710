//! The parts of a workflow as data: its steps, effects, checks and readings.

pub mod check;
pub mod document;
pub mod effect;
pub mod reading;
pub mod types;
