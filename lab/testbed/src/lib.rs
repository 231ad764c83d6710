//! Shared test support: real tools (a kube-apiserver with its etcd, kubectl, a browser), the simulator in the
//! process of a test, commands, parallel runs, and a validator of documents.
//!
//! etcd comes from a crate; the kube-apiserver from `KUBEBUILDER_ASSETS`, or from the cache that `scripts/kube-assets`
//! fills. A test that needs a missing tool fails, or is skipped on request: see [`require`]. Never shipped.

mod azure;
pub mod browser;
mod certificates;
pub mod command;
pub mod devtools;
pub mod documents;
mod error;
mod kube_apiserver;
mod parallel;
mod process;
pub mod schema;
pub mod simulation;
mod tool;

pub use azure::InProcessAzure;
pub use error::ServerStartError;
pub use kube_apiserver::{RealCluster, Users};
pub use parallel::on_all_cores;
pub use tool::{find_kubectl, find_program, require};
