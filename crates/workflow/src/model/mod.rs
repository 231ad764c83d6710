//! The parts of a workflow as data: checks, readings and results of effects.

pub mod check;
pub mod effect;
pub mod reading;
pub(crate) mod report;

use std::rc::Rc;

use jiff::Timestamp;

/// The time of a process; tests have their own.
pub type Clock = Rc<dyn Fn() -> Timestamp>;
