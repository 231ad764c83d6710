//! Patches by kind.

use serde_json::Value;

use super::strategic::{self, ListRule};
use super::{json, merge};
use crate::kubernetes::api::state::{ApiResult, ListType, Resource};

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

/// Returns the list type of a built-in object's list, by its name.
pub(crate) fn list_type(resource: &Resource, name: &str) -> ListType {
    match strategic::rule(resource, name) {
        ListRule::Replace => ListType::Atomic,
        ListRule::Set => ListType::Set,
        ListRule::Key(key) => ListType::Map(vec![key.to_owned()]),
    }
}
