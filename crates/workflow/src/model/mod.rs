//! The parts of a workflow as data: its types, effects, checks, readings and decisions.

pub mod check;
pub mod decision;
pub mod document;
pub mod effect;
pub mod reading;
pub mod types;
