//! Files that are passed in variables.

pub(super) mod containerd;
pub(super) mod corefile;
pub(super) mod kubelet;
pub(super) mod sysctl;
