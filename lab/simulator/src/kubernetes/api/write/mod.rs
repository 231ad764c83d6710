//! Writes: one pipeline, and the verbs and subresources that use it.

pub(crate) mod create;
pub(crate) mod defaults;
mod definitions;
pub(crate) mod delete;
mod managers;
mod metadata;
pub(crate) mod patch;
pub(crate) mod pipeline;
mod rules;
mod subresources;
mod unknown_fields;
pub(crate) mod update;
