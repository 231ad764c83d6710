//! Options of one run.

pub(super) mod limits;
mod settings;

pub use settings::{AzureOptions, DeletingView, KubernetesAccess, Rights};
