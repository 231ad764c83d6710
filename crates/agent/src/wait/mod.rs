//! `provision-wait`: waits for the end of the bootstrap, prints its report, exits with its code.

mod command;
mod evaluate;
mod outcome;
mod result;

pub(crate) use command::provision_wait;
