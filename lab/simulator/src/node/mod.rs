//! What a booting node requests: IMDS, a registry and the live-patching service.

pub mod imds;
pub mod live_patching;
pub mod registry;
