//! The sections of the page.

pub(super) mod controller;
pub(super) mod failures;
pub(super) mod figures;
pub(super) mod fleet;
pub(super) mod joining;
pub(super) mod pools;
pub(super) mod runs;
pub(super) mod strips;
pub(super) mod timeline;
