//! Labels, and the limits of their values.

use prometheus_client::encoding::EncodeLabelSet;

use crate::verdict::patch::StatusPatchKind;

/// Pools, images and causes with a separate label value.
pub(super) const MAX_VALUES: usize = 64;
pub(super) const MAX_VALUE_LENGTH: usize = 64;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct FailureLabels {
    pub(super) code: String,
    pub(super) reason: String,
    pub(super) nodepool: String,
    pub(super) image: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct ImageLabels {
    pub(super) image: String,
    pub(super) reason: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct Label {
    pub(super) kind: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteLabel {
    Patch(StatusPatchKind),
    Event,
    Record,
    Counts,
    Lease,
}

impl WriteLabel {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Patch(StatusPatchKind::Verdict) => "condition",
            Self::Patch(StatusPatchKind::Reassert) => "condition_reassert",
            Self::Event => "event",
            Self::Record => "record",
            Self::Counts => "counts",
            Self::Lease => "lease",
        }
    }
}
