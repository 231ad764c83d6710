//! Results of reading Azure.
//!
//! Parsers are tolerant: a field may be absent, `null` or of an unexpected type. An unreadable response is an
//! observation as well.

mod body;
pub mod karpenter;
mod machine;
mod progress;
mod response;
#[cfg(test)]
mod tests;
mod vm;

pub use machine::MachineStatus;
pub use progress::ProvisioningState;
pub use response::Observation;
pub use vm::{CseState, Extension, VmObservation};
