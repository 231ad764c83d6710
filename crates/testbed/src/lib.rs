//! What the tests of several crates need: real programs (a kube-apiserver with its etcd, kubectl, a browser), the way from the
//! client of Azure to its model, and all cores.
//!
//! The etcd is the one that a crate carries; the kube-apiserver comes from `KUBEBUILDER_ASSETS`, or from the cache
//! that `scripts/kube-assets` fills. A test that needs a program fails without it, or
//! is skipped on request: see [`require`]. Nothing of this is ever shipped.

mod assets;
mod azure;
pub mod browser;
mod certificates;
mod cores;
mod error;
mod kubectl;
mod process;
mod real;
mod tool;

pub use azure::InProcessAzure;
pub use cores::on_all_cores;
pub use error::StartError;
pub use kubectl::find_kubectl;
pub use real::{RealCluster, Users};
pub use tool::require;
