//! Writes: one pipeline, and the verbs and subresources that use it.

mod apply;
pub(crate) mod create;
pub(crate) mod defaults;
mod definitions;
pub(crate) mod delete;
mod metadata;
pub(crate) mod patch;
pub(crate) mod pipeline;
mod rules;
mod subresources;
mod unknown_fields;
pub(crate) mod update;
