//! The shell: everything that touches Azure, Kubernetes, a disk or a clock.
//!
//! | module | idea |
//! |---|---|
//! | `azure`, `cluster` | questions and changes in the words of the repair, over the two services |
//! | `kube_api`, `access`, `ways_in` | requests to a Kubernetes API, and how it is reached |
//! | `store`, `process` | the journal with its lock, and who holds it |
//! | `world` | all of it behind the seam that the loop drives |
//! | `capacity`, `rights` | what a temporary pool needs to be had, and what the caller may do |
//! | `ending` | what commands over any journal share: lock, rest, standing |
//! | `operator` | what a person asks for: detect, plan, apply, resume, status, abort |

mod access;
mod answers;
mod azure;
mod capacity;
mod cluster;
pub(crate) mod ending;
pub(crate) mod kube_api;
mod operator;
mod process;
mod rights;
mod store;
pub(crate) mod takeover;
mod ways_in;
pub(crate) mod world;

pub use access::{Access, Unreached};
pub use ending::Ending as JournalEnding;
pub use kube_api::KubeApi;
pub use operator::{Ending, Examined, Operator, PATIENCE, Standing};
pub use process::{liveness, random_id, this_process};
pub use store::{ConfigMapStore, Contents, FileStore, Store, StoreError};
pub use world::{Clock, Watcher};

/// Foreign text for people: without control characters, and not endless.
pub(crate) fn told(text: &str) -> String {
    const MOST: usize = 400;
    let mut told: String =
        text.chars().filter(|character| !character.is_control()).take(MOST).collect();
    if text.chars().count() > MOST {
        told.push('…');
    }
    told
}
