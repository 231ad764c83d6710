//! Options of one run.

pub(super) mod limits;
mod settings;

pub use settings::{DeletingView, KubernetesAccess, Options, Rights};
