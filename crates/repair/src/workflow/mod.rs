//! Repair of a node pool as a workflow.
//!
//! | module | idea |
//! |---|---|
//! | `step`, `plan_document` | steps, and the approved plan |
//! | [`effects`] | changes as data |
//! | `pool_repair` | types of the workflow, and the facts of its runs |
//! | `cluster` | reads of Azure and Kubernetes for one decision, and the retries of effects |

mod cluster;
pub mod effects;
mod plan_document;
mod pool_repair;
mod step;

pub(crate) use cluster::Context;
pub use cluster::{PoolCluster, Services};
pub use plan_document::{HashedPlan, PlanDocument};
pub use pool_repair::{
    Attempt, Decision, Entry, Facts, PoolRepair, Run, Runs, Session, Workload, aborts,
    checked_before_abort, deletion, first_abort, losses, losses_with_abort, temporary,
};
pub use step::Step;
