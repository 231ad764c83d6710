//! Answers about a cluster: documents and screens of `mooring status`, `mooring fleet` and `mooring why`.

pub(crate) mod common;
pub(crate) mod fleet;
mod status;
mod status_watch;
mod why;

pub(crate) use fleet::{FORMER as FORMER_FLEET, fleet};
pub(crate) use mooring_inventory::status::FLEET_SCHEMA as FLEET;
pub(crate) use status::status;
pub(crate) use why::{FORMER as FORMER_WHY, SCHEMA as WHY, why};
