//! Decides what a repair does next.
//!
//! A decision depends only on the run, on reads that are at most as old as the decision, and on the time. Every step is
//! *level-triggered*: it compares actual with desired state, so that a run can continue after a crash at any point.
//!
//! | module | idea |
//! |---|---|
//! | `clear_operation`, `pools`, `drain`, `verify` | the steps |
//! | `rollback` | `abort` |

mod clear_operation;
mod drain;
mod pools;
mod rollback;
mod verify;

use mooring_workflow::{Finish, NotRead};

use crate::plan::Step;
use crate::workflow::{Context, Decision, Services, checked_before_abort, losses};

impl<S: Services> Context<'_, S> {
    /// Returns the decision of the current step, or what must come before its effect.
    pub(crate) async fn decide(&self) -> Result<Decision, NotRead> {
        let decision = self.step().await?;
        let Decision::Apply(effect) = &decision else { return Ok(decision) };
        Ok(self.blocked(effect).await?.unwrap_or(decision))
    }

    async fn step(&self) -> Result<Decision, NotRead> {
        if self.is_rolling_back() {
            return self.roll_back().await;
        }
        let (run, name) = (self.run, self.name());
        let Some(step) = run.step() else {
            let left = self.temporary_left().await?;
            return Ok(left.unwrap_or_else(|| Decision::Finish(Finish::Complete, losses(run))));
        };
        match step {
            Step::Snapshot => self.snapshot().await,
            Step::ClearOperation => self.clear_operation().await,
            Step::Recheck => match self.canceling().await? {
                Some(wait) => Ok(wait),
                // The pool may have recovered while the run waited.
                None => self.wedged(checked_before_abort(run)).await,
            },
            Step::CreateTemporary => self.create_temporary().await,
            Step::VerifyTemporary => self.verify_temporary().await,
            Step::CordonPool => self.cordon(name).await,
            Step::DrainPool => self.drain(step, name).await,
            Step::VerifyWorkloads => self.verify_workloads(Step::DrainPool, name).await,
            Step::DeletePool => self.delete_pool().await,
            Step::RecreatePool => self.recreate().await,
            Step::WaitForNodes => self.enough_nodes(name).await,
            Step::VerifyPool => self.verify_pool().await,
            Step::CordonTemporary => self.cordon(&self.temporary()).await,
            Step::DrainTemporary => self.drain(step, &self.temporary()).await,
            Step::DeleteTemporary => self.delete_temporary().await,
            Step::ReconcileCluster => self.reconcile_cluster(true).await,
        }
    }
}

fn done(evidence: impl Into<String>) -> Decision {
    Decision::Done(vec![evidence.into()])
}
