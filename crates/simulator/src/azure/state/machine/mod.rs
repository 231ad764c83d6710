//! VMs: image, size and bootstrap.

mod cse;
mod cse_report;
mod provision;
mod spec;

pub use cse::{Cse, Guest, Join, Printed};
pub(crate) use cse_report::events;
pub use provision::Mode;
pub(crate) use provision::{Image, image_of};
pub(crate) use spec::{BootMode, Extensions, Promise, VmSpec};
