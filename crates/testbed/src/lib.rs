//! Real programs for tests: a kube-apiserver with its etcd, and a browser.
//!
//! The etcd is the one that a crate carries; the kube-apiserver comes from `KUBEBUILDER_ASSETS`, or from the cache
//! that `scripts/kube-assets` fills. Where there is none, [`RealCluster::start`] says so, and a test may go on
//! without; the same with [`mod@browser`]. Nothing of this is ever shipped.

mod assets;
pub mod browser;
mod certificates;
mod process;
mod real;

pub use real::{RealCluster, StartError, Users};
