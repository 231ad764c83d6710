//! `provision`: from the node config to a bootstrapped node, or to a report of the failure.

pub(crate) mod cause;
mod checks;
mod command;
mod comparison;
mod earlier;
mod end;
mod failure;
mod output;
mod result;
mod run;

pub(crate) use failure::{NOT_STARTED, status};
pub(crate) use result::{leave_early_result, leave_last_result};
pub(crate) use run::provision;
