//! Answers about a cluster: documents and screens of `mooring status`, `mooring fleet` and `mooring why`.

mod arguments;
pub(crate) mod common;
pub(crate) mod fleet;
mod status;
mod status_watch;
mod why;

pub(crate) use arguments::{
    FLEET_HELP, FleetArguments, ReadArguments, STATUS_HELP, StatusArguments, WHY_HELP, WhyArguments,
};
pub(crate) use fleet::fleet;
pub(crate) use status_watch::status;
pub(crate) use why::{document as why_document, why};
