//! Patches of four kinds.

mod handler;
mod json;
mod kind;
mod merge;
mod strategic;

pub(crate) use kind::{PatchKind, apply};
pub(crate) use strategic::list_type;
