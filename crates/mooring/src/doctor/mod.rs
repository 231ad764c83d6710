//! `mooring doctor`: what commands need, what is missing, and how to fix it.

mod arguments;
mod azure;
mod check;
mod cluster;
mod command;
mod config;
mod installed;

pub(crate) use arguments::{DoctorArguments, HELP};
pub(crate) use command::{doctor, document};
