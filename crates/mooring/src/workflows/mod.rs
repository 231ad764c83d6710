//! Commands that change a cluster, and what they have in common.

pub(crate) mod finalizers;
pub(crate) mod repair;
pub(crate) mod runs;
