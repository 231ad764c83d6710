//! Figures of the controller.

use crate::step::{Failed, run};

/// Measures the resource usage of the controller, in virtual time.
pub(crate) fn controller() -> Result<(), Failed> {
    run("cargo", &["bench", "--locked", "-p", "mooring-controller", "--bench", "controller"])
}
