//! `bench controller`: resource usage of the controller, in virtual time.

use crate::step::{Failed, run};

pub(crate) fn bench() -> Result<(), Failed> {
    run("cargo", &["bench", "--locked", "-p", "mooring-controller", "--bench", "controller"])
}
