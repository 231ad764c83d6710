//! The live-patching service: what it is asked, how, and what its response means.

pub(super) mod check;
pub mod grpc;
mod live;
mod target;
