//! VMs: image, size and bootstrap.

mod cse;
mod cse_report;
mod provision;
mod spec;

pub use cse::{Cse, CseOutput, Guest, Join};
pub(crate) use cse_report::events;
pub use provision::ProvisionMode;
pub(crate) use provision::{NodeImage, image_of};
pub(crate) use spec::{BootMode, Extensions, Promise, VmSpec};
