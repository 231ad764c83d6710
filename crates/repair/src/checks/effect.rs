//! Preconditions of effects: a run may have stopped for hours, and others change the same cluster.

use jiff::SignedDuration;
use mooring_workflow::plural::counted;
use mooring_workflow::screens::ago;
use mooring_workflow::{NotRead, Reason};
use serde_json::Value;

use super::table::read_scale_set;
use super::wedge::recovered;
use crate::names::{FAILING_WRITES, POOL_STATE};
use crate::observation::Pool;
use crate::plan::Step;
use crate::pool_body;
use crate::workflow::effects::Effect;
use crate::workflow::{Attempt, Context, Decision, Services};

/// Time until a change is visible: responses may be stale or lost.
pub(crate) const PROPAGATION_TIMEOUT: SignedDuration = SignedDuration::from_mins(2);

/// Each returns what must come first; none if the check holds.
impl<'a, S: Services> Context<'a, S> {
    /// The pool is that of the plan, or was deleted by this run. The journal may be an old copy.
    pub(super) async fn pool_changed(&self) -> Result<Option<Decision>, NotRead> {
        let name = self.name();
        let Some(pool) = self.pool(name).await? else { return Ok(self.deleted_by_others()) };
        let changed =
            |how: &str| Decision::resumable(Reason::Changed, format!("pool {name} {how}"));
        if self.on_another_set().await? {
            return Ok(Some(changed(
                "has a different scale set than the snapshot; run `abort`, then `detect`",
            )));
        }
        Ok(edited(&self.plan().source, pool).then(|| {
            changed(
                "was changed after the snapshot; revert the change and `resume`, or `abort` and plan again",
            )
        }))
    }

    pub(super) async fn pool_recovered(&self) -> Result<Option<Decision>, NotRead> {
        let name = self.name();
        let has_recovered = self.pool(name).await?.is_some_and(|pool| pool.state() == "Succeeded");
        Ok(has_recovered.then(|| {
            let message = format!(
                "pool {name} recovered on its own; `abort` to roll back, or \
                `resume --override {POOL_STATE}=REASON` to rebuild it anyway"
            );
            Decision::resumable(Reason::CheckFailed, message)
        }))
    }

    /// No write to the pool's scale set succeeded. Waits for failed reads.
    pub(super) async fn writes_succeed(&self) -> Result<Option<Decision>, NotRead> {
        let name = self.name();
        if self.pool(name).await?.is_none() {
            return Ok(None);
        }
        let Some(set) = self.scale_set(name).await? else {
            return Ok(Some(self.wait(format!("for the scale set of pool {name}"))));
        };
        self.events().await?;
        read_scale_set(self.services, self.view, name).await;
        Ok(recovered(self.view, self.settings, self.now).map(|at| {
            let message = format!(
                "a write to {} succeeded {}, with no sign of a wedge since: pool {name} is no longer wedged; \
                `abort` to roll back, or `resume --override {FAILING_WRITES}=REASON` to rebuild it anyway",
                set.name,
                ago(at, self.now)
            );
            Decision::resumable(Reason::CheckFailed, message)
        }))
    }

    /// The pool is not the one of the plan: only then is the temporary pool not needed, regardless of the journal.
    pub(super) async fn not_recreated(&self) -> Result<Option<Decision>, NotRead> {
        let name = self.name();
        if self.pool(name).await?.is_none() {
            return Ok(Some(self.deleted_pool(name)));
        }
        if self.on_another_set().await? {
            return Ok(None);
        }
        Ok(Some(self.wait(format!("for pool {name} to be on a new scale set"))))
    }

    /// This run deleted the missing pool, unless overridden.
    pub(crate) fn deleted_by_others(&self) -> Option<Decision> {
        let name = self.name();
        if self.deletion().is_some() || self.has_override(POOL_STATE) {
            return None;
        }
        Some(self.missing(name, || {
            format!(
                "pool {name} was deleted outside this run; `abort` to end the run, or `resume --override {POOL_STATE}=REASON` to \
                 recreate it from the snapshot"
            )
        }))
    }

    /// Returns a pool of the same name on another scale set that this run did not create.
    pub(crate) async fn recreated_externally(&self) -> Result<Option<&'a Pool>, NotRead> {
        let name = self.name();
        let Some(pool) = self.pool(name).await? else { return Ok(None) };
        let ours =
            self.run.attempt(&Effect::key_of_put(name)).is_some_and(Attempt::may_have_happened);
        Ok((self.on_another_set().await? && !ours).then_some(pool))
    }

    /// Done once a pool has enough nodes for the workloads.
    pub(crate) async fn enough_nodes(&self, name: &str) -> Result<Decision, NotRead> {
        let Some(pool) = self.pool(name).await? else { return Ok(self.deleted_pool(name)) };
        let wanted = self.wanted(pool).await?;
        let usable = self.nodes_of(name).await?.into_iter().filter(|node| node.usable()).count();
        if i64::try_from(usable).unwrap_or(i64::MAX) < wanted {
            return Ok(self.wait(format!(
                "for {} in pool {name}; it has {usable}",
                counted(wanted, "Ready, schedulable node")
            )));
        }
        let nodes = counted(usable, "Ready, schedulable node");
        Ok(Decision::Done(vec![format!("pool {name} has {nodes}")]))
    }

    /// Returns the number of nodes that a pool needs to run the workloads.
    pub(crate) async fn wanted(&self, pool: &Pool) -> Result<i64, NotRead> {
        if pool.name != self.name() {
            return Ok(pool.count().unwrap_or(1).max(1));
        }
        let body = &self.plan().pool_body;
        let minimum = i64::from(body["properties"]["mode"] != "User");
        let former = body["properties"]["count"].as_i64().unwrap_or(1);
        // The autoscaler may have scaled the new pool down, and so may an operator once it was complete.
        let may_differ = pool.autoscaled()
            || self.run.has_done(Step::VerifyPool)
            || self.recreated_externally().await?.is_some();
        let wanted = if may_differ { former.min(pool.count().unwrap_or(former)) } else { former };
        Ok(wanted.max(minimum))
    }

    /// Waits for a pool that this run created, or stops if it was deleted since.
    pub(crate) fn deleted_pool(&self, name: &str) -> Decision {
        self.missing(name, || {
            if name == self.name() {
                format!(
                    "pool {name} was deleted after this run recreated it; create it again (docs/RUNBOOK.md), then `resume`"
                )
            } else {
                format!("pool {name} was deleted after this run created it; run `abort`, then `apply`")
            }
        })
    }

    /// Waits for a missing pool as long as the response may be stale.
    fn missing(&self, name: &str, message: impl FnOnce() -> String) -> Decision {
        if self.now.duration_since(self.run.step_since()) < PROPAGATION_TIMEOUT {
            return self.wait(format!("for pool {name}, which does not exist"));
        }
        Decision::resumable(Reason::Gone, message())
    }
}

/// Returns true if the configuration was changed. Changes by the service do not count.
fn edited(snapshot: &Value, pool: &Pool) -> bool {
    let differ = |then: &Value, now: &Value| match [then, now].map(pool_body::intent_of) {
        [Ok(then), Ok(now)] => then != now,
        _ => true,
    };
    if !differ(snapshot, &pool.raw) {
        return false;
    }
    // The snapshot has no secrets, and may be of a version that kept more fields.
    let [then, now] = [snapshot, &pool.raw].map(|pool| {
        let mut pool = pool.clone();
        mooring_redact::json::strip(&mut pool);
        pool
    });
    differ(&then, &now)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn snapshot_with_more_fields_is_not_an_edit() {
        let raw = json!({"name": "p", "properties": {"vmSize": "x", "osDiskSizeGB": 30, "count": 1,
            "orchestratorVersion": "1.35.4", "tags": {"apiKeyOwner": "team"}}});
        let pool = Pool::read(&raw).unwrap();
        assert!(!edited(&raw, &pool));
        let mut other = raw;
        other["properties"]["maxPods"] = 50.into();
        assert!(edited(&other, &pool));
    }
}
