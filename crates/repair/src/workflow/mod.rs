//! Repair of a node pool as a workflow.
//!
//! | module | idea |
//! |---|---|
//! | `step`, `plan_document` | steps, and the approved plan |
//! | [`effects`] | changes as data |
//! | `pool_repair` | types of the workflow, and the facts of its runs |
//! | `context` | inputs of a step and of the checks of its effects |

mod context;
pub mod effects;
mod plan_document;
mod pool_repair;
mod step;

pub(crate) use context::{Context, Halt, Progress, Unknown, resumable};
pub use plan_document::{HashedPlan, PlanDocument};
pub use pool_repair::{
    Attempt, Decision, Entry, Fact, Facts, Finish, PoolRepair, Reason, Record, RepairRun, Run,
    RunOutcome, Runs, Session, Workload,
};
pub use step::Step;
