//! The uninstalled operator: its profile, the objects that belong to it, and the options of a removal.

pub mod profile;
pub mod settings;
pub mod target;
