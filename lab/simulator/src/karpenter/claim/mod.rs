//! A `NodeClaim` as Karpenter changes it.

pub(super) mod conditions;
pub(super) mod disruption;
pub(super) mod lifecycle;
pub(super) mod objects;
pub(super) mod transitions;
