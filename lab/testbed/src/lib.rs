//! Shared test support: real tools (a kube-apiserver with its etcd, kubectl, a browser), the simulator in the
//! process of a test, commands, parallel runs, and a validator of documents.
//!
//! etcd comes from a crate; the kube-apiserver from `KUBEBUILDER_ASSETS`, or from the cache that `scripts/kube-assets`
//! fills. A test that needs a missing tool fails, or is skipped on request: see [`require`]. Never shipped.

mod azure;
pub mod browser;
pub mod command;
pub mod devtools;
pub mod documents;
mod kube_apiserver;
mod process;
pub mod schema;
pub mod simulation;
mod tool;

pub use azure::InProcessAzure;
pub use kube_apiserver::{RealCluster, ServerStartError, Users};
pub use tool::{find_kubectl, find_program, require};

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Calls `act` for the numbers of a range on all cores. Panics if one of them panics.
pub fn on_all_cores(numbers: Range<u64>, act: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(numbers.start);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        break;
                    }
                    act(number);
                }
            });
        }
    });
}
