//! `bench controller`: what the controller costs, under virtual time.

use crate::step::{Failed, run};

pub(crate) fn bench() -> Result<(), Failed> {
    run("cargo", &["bench", "--locked", "-p", "mooring-controller", "--bench", "controller"])
}
