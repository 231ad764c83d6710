//! Causes, their stages, and the wordings that indicate them.

pub(crate) mod catalog;
pub(crate) mod component;
pub(crate) mod confidence;
pub(crate) mod entry;
pub(crate) mod stage;
pub(crate) mod subject;
pub(crate) mod wording;
