//! The steps `snapshot`, `clear-operation` and `reconcile-cluster`.

use mooring_workflow::plural::counted;
use mooring_workflow::reading::once;
use mooring_workflow::{EffectResult, Finish, NotRead, Reading, Reason};

use super::done;
use crate::checks::LOG_DELAY;
use crate::names::{OTHER_OPERATION, RUN_TAG};
use crate::operation::{self, OngoingOperation, OperationScope};
use crate::plan::pool_hash;
use crate::temporary_pool::TemporaryPool;
use crate::workflow::effects::Effect;
use crate::workflow::{Context, Decision, Services, aborts};

impl<S: Services> Context<'_, S> {
    /// The live pool is that of the plan, which holds it, and the name of the temporary pool is available.
    pub(super) async fn snapshot(&self) -> Result<Decision, NotRead> {
        let name = self.name();
        let Some(pool) = self.pool(name).await? else {
            return Ok(self.refused(Reason::Gone, format!("pool {name} was not found")));
        };
        if pool_hash(&pool.raw) != self.plan().pool_hash || self.on_another_set().await? {
            let message = format!("pool {name} changed since the plan; create a new plan");
            return Ok(self.refused(Reason::Changed, message));
        }
        if let Some(taken) = self.pool(&self.temporary()).await?
            && !self.belongs_to_run(taken)
            && !self.is_adopted(taken)
        {
            let message = match TemporaryPool::of(self.pools().await?, name) {
                Some(left) => left.remediation(),
                None => format!(
                    "pool {} exists but was not created by this run; find its owner before deleting it",
                    taken.name
                ),
            };
            return Ok(self.refused(Reason::NameTaken, message));
        }
        Ok(done("snapshot saved"))
    }

    /// Returns the wait for a cluster whose operation is being aborted.
    pub(super) async fn canceling(&self) -> Result<Option<Decision>, NotRead> {
        let is_canceling = self.cluster().await?.state == "Canceling";
        Ok(is_canceling.then(|| self.wait("for the cluster, which is Canceling")))
    }

    /// Waits for the running operation, or aborts it if it is identified and old enough.
    pub(super) async fn clear_operation(&self) -> Result<Decision, NotRead> {
        if let Some(wait) = self.canceling().await? {
            return Ok(wait);
        }
        self.pools().await?;
        if operation::running(self.view) != OngoingOperation::Nothing {
            once(&self.view.latest_operation, self.services.latest_operation()).await;
            once(&self.view.events, self.services.events()).await;
        }
        let (id, started, scope) = match operation::running(self.view) {
            OngoingOperation::Nothing => return Ok(done("no operation in progress")),
            OngoingOperation::One { id, started, scope } => (id, started, scope),
            OngoingOperation::Unidentified(why) => {
                // The log is late, and may show the operation later.
                return Ok(if aborts(self.run).next().is_some() || !self.is_final() {
                    self.wait(format!("for the running operation to be identified: {why}"))
                } else {
                    self.refused(Reason::Unidentified, why)
                });
            }
        };
        let age = self.now.duration_since(started);
        if self.has_aborted(&scope) {
            return Ok(self.wait("for the aborted operation to end"));
        }
        if age < self.settings.limits.operation_age {
            let message = format!(
                "operation {id} has been running for {}; too recent to abort",
                counted(age.as_mins(), "minute")
            );
            return Ok(self.finish(Finish::NothingToDo, Reason::TooRecent, message));
        }
        let from_log = !matches!(self.view.latest_operation.get(), Some(Reading::Known(Some(_))));
        let looked = self.now.duration_since(self.run.step_since());
        if from_log && looked < LOG_DELAY {
            // The log is late: the operation may have ended, and a newer one may be running.
            return Ok(self.wait("for the activity log to show a newer operation"));
        }
        if let OperationScope::Pool(pool) = &scope
            && pool != self.name()
            && !self.has_override(OTHER_OPERATION)
        {
            // It may not be stuck: the upgrade of a large pool takes hours.
            return Ok(self.wait(format!(
                "for operation {id} on pool {pool}; operations on other pools are not aborted \
                 (`resume --override {OTHER_OPERATION}=REASON` aborts it)"
            )));
        }
        let judged = Some(self.now);
        Ok(self.effect(Effect::AbortOperation { scope, operation: id, judged }))
    }

    /// Returns true if the reads that could identify an operation are denied permanently.
    fn is_final(&self) -> bool {
        let (events, latest) = (self.view.events.get(), self.view.latest_operation.get());
        !matches!(events, Some(Reading::Failed(_) | Reading::Throttled(_)))
            && !matches!(latest, Some(Reading::Failed(_) | Reading::Throttled(_)))
    }

    /// Returns true if an abort was accepted and not rejected since: another one could abort a foreign operation.
    fn has_aborted(&self, scope: &OperationScope) -> bool {
        self.run.attempt(&Effect::key_of_abort(scope.clone())).is_some_and(|attempt| {
            matches!(
                attempt.result,
                Some(EffectResult::Done | EffectResult::Started { .. } | EffectResult::AlreadyDone)
            )
        })
    }

    /// Done once the cluster is Succeeded; `always` updates the tag even if it is. A tag triggers reconciliation, which ends
    /// Canceled and Failed.
    pub(super) async fn reconcile_cluster(&self, always: bool) -> Result<Decision, NotRead> {
        let cluster = self.cluster().await?;
        let tagged = cluster.tags.get(RUN_TAG) == Some(&self.run.id);
        Ok(match cluster.state.as_str() {
            "Succeeded" if tagged || !always => done("cluster is Succeeded"),
            // Also if tagged: the first reconciliation may have failed.
            "Succeeded" | "Failed" | "Canceled" => self.effect(Effect::TagCluster {
                name: RUN_TAG.to_owned(),
                value: self.run.id.clone(),
            }),
            other => self.wait(format!("for the cluster, which is {other}")),
        })
    }
}
