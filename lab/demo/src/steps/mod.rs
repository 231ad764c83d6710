//! Runs each step of a scenario and checks its result.

mod boot;
mod faults;
mod inspect;
mod repair;
