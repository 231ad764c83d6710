//! Patches by kind.

use serde_json::Value;

use super::{json, merge, strategic};
use crate::kubernetes::api::state::{ApiResult, Resource};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchKind {
    Json,
    Merge,
    Strategic,
}

pub(crate) fn apply(
    kind: PatchKind,
    resource: &Resource,
    value: &mut Value,
    patch: &Value,
) -> ApiResult<()> {
    match kind {
        PatchKind::Json => json::apply(value, patch),
        PatchKind::Merge => {
            merge::apply(value, patch);
            Ok(())
        }
        PatchKind::Strategic => strategic::apply(resource, value, patch),
    }
}
