//! Writes: one pipeline, and the verbs and subresources that use it.

mod apply;
mod binding;
pub(crate) mod create;
pub(crate) mod defaults;
mod definitions;
pub(crate) mod delete;
mod eviction;
mod finalize;
mod metadata;
pub(crate) mod patch;
pub(crate) mod pipeline;
mod rules;
mod scale;
mod unknown_fields;
pub(crate) mod update;
