//! Runs each step of a scenario and checks its result.

mod boot;
mod dispatch;
mod faults;
mod inspect;
mod repair;
