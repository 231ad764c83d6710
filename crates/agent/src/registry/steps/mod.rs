//! The list of steps, which is executed, logged and explained.

mod anonymous;
mod exchange;
mod help;
mod identity;
mod list;
mod oras;
mod permission;

pub(crate) use help::help;
pub(super) use list::STEPS;
