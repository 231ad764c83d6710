//! The parts of a workflow as data: checks, readings and results of effects.

pub mod check;
pub mod effect;
pub mod reading;
pub(crate) mod report;
