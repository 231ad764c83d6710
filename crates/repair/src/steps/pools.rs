//! Creates and deletes pools.

use mooring_workflow::{NotRead, Reading, Reason};

use super::done;
use crate::names::{POOL_STATE, POOL_UNCHANGED};
use crate::observation::Pool;
use crate::plan::Step;
use crate::workflow::effects::{Effect, Precondition};
use crate::workflow::{Context, Decision, Services};

/// Error codes after which the same request fails again.
const NON_RETRYABLE_CODES: [&str; 7] = [
    "QuotaExceeded",
    "ErrCode_InsufficientVCPUQuota",
    "SkuNotAvailable",
    "VMSizeNotSupported",
    "RequestDisallowedByPolicy",
    "InsufficientSubnetSize",
    "SubnetIsFull",
];

impl<S: Services> Context<'_, S> {
    /// Done once the temporary pool of this run is Succeeded.
    pub(super) async fn create_temporary(&self) -> Result<Decision, NotRead> {
        let name = self.temporary();
        let pool = self.pool(&name).await?;
        if pool.is_some_and(|pool| !self.belongs_to_run(pool) && !self.is_adopted(pool)) {
            return Ok(not_ours(&name));
        }
        // An adopted pool belongs to this run once it has its size and tags.
        let is_made = pool.is_some_and(|pool| self.belongs_to_run(pool));
        self.ensure_pool(&name, self.temporary_body(), is_made).await
    }

    /// Done once the pool is Succeeded on another scale set.
    pub(super) async fn recreate(&self) -> Result<Decision, NotRead> {
        let name = self.name();
        if let Some(pool) = self.recreated_externally().await? {
            return Ok(match pool.state() {
                "Succeeded" => done(format!(
                    "pool {name} was recreated outside this run; leaving it unchanged"
                )),
                state => self.wait(format!("for pool {name}, which is {state}")),
            });
        }
        // A stale response may show the deleted pool, and a journal may claim a deletion that never happened: that pool is not
        // written.
        if self.pool(name).await?.is_some() && self.on_planned_set().await? {
            return Ok(self.wait(format!("for pool {name} to be deleted")));
        }
        match self.ensure_pool(name, self.plan().pool_body.clone(), true).await? {
            Decision::Done(_) if self.scale_set(name).await?.is_none() => {
                Ok(self.wait(format!("for the new scale set of pool {name}")))
            }
            decision => Ok(decision),
        }
    }

    async fn ensure_pool(
        &self,
        name: &str,
        body: serde_json::Value,
        is_made: bool,
    ) -> Result<Decision, NotRead> {
        let intended = self.run.attempts.contains_key(&Effect::key_of_put(name));
        let pool = self.pool(name).await?;
        let only = match pool {
            None => Some(Precondition::IfAbsent),
            Some(pool) => pool.etag().map(Precondition::IfMatch),
        };
        let put = Effect::PutPool { pool: name.to_owned(), body, only };
        Ok(match pool {
            Some(pool) if pool.state() == "Succeeded" && intended && is_made => {
                done(format!("pool {name} is Succeeded"))
            }
            Some(pool) if pool.busy() => {
                self.wait(format!("for pool {name}, which is {}", pool.state()))
            }
            Some(pool) if pool.state() == "Failed" => self.retry(put, pool).await,
            _ => self.effect(put),
        })
    }

    /// Retries an effect on a pool that may be Failed by the last attempt, and adds the reason. Stops if a retry is useless.
    async fn retry(&self, effect: Effect, pool: &Pool) -> Decision {
        let attempt = self.run.attempt(&effect.key());
        let failed = match attempt.and_then(|attempt| attempt.token.as_ref()) {
            Some(token) => self.operation(token).await,
            None => &Reading::NotFound,
        };
        let codes = match failed {
            Reading::Failed(why) => why.clone(),
            reading => {
                let codes = reading.known().map(Vec::as_slice).unwrap_or_default();
                let is_hopeless =
                    |code: &String| NON_RETRYABLE_CODES.iter().any(|word| code.contains(word));
                let is_new = attempt.is_some_and(|attempt| !self.run.is_before_step(attempt));
                if codes.iter().any(is_hopeless) && is_new {
                    let message = format!("{} failed: {}", effect.key(), codes.join(", "));
                    return Decision::resumable(Reason::EffectRefused, message);
                }
                codes.join(", ")
            }
        };
        let codes = if codes.is_empty() { codes } else { format!(" ({codes})") };
        match self.effect(effect) {
            Decision::Wait { until, why } => {
                let why = format!("{why}: pool {} is {}{codes}", pool.name, pool.state());
                Decision::Wait { until, why }
            }
            decision => decision,
        }
    }

    /// Done once the wedged pool is deleted. Deletes it only if it is unchanged since the snapshot.
    pub(super) async fn delete_pool(&self) -> Result<Decision, NotRead> {
        let name = self.name();
        let Some(pool) = self.pool(name).await? else {
            let deleted = || done(format!("pool {name} deleted"));
            return Ok(self.deleted_by_others().unwrap_or_else(deleted));
        };
        if pool.state() == "Deleting" {
            return Ok(self.wait(format!("for pool {name} to be deleted")));
        }
        if self.deletion().is_some() && self.on_another_set().await? {
            return Ok(done(format!(
                "pool {name} deleted; another pool with its name was created outside this run"
            )));
        }
        // Also after an earlier intent: the process may have died before the request.
        if let Some(other) = self.blocked_by(&[POOL_UNCHANGED, POOL_STATE]).await? {
            return Ok(other);
        }
        self.delete_drained(Step::DrainPool, pool).await
    }

    pub(super) async fn delete_temporary(&self) -> Result<Decision, NotRead> {
        let name = self.temporary();
        match self.pool(&name).await? {
            None => Ok(done(format!("pool {name} deleted"))),
            Some(pool) if !self.belongs_to_run(pool) => Ok(not_ours(&name)),
            Some(pool) => self.delete_drained(Step::DrainTemporary, pool).await,
        }
    }

    async fn delete_drained(&self, drain: Step, pool: &Pool) -> Result<Decision, NotRead> {
        let name = &pool.name;
        if pool.busy() {
            return Ok(self.wait(format!("for pool {name}, which is {}", pool.state())));
        }
        if let Some(other) = self.verify_workloads(drain, name).await?.unless_done() {
            return Ok(other);
        }
        let delete = Effect::DeletePool { pool: name.clone(), if_match: pool.etag() };
        Ok(self.retry(delete, pool).await)
    }

    /// Waits while the temporary pool exists, regardless of the journal: no run ends as repaired before.
    pub(super) async fn temporary_left(&self) -> Result<Option<Decision>, NotRead> {
        let name = self.temporary();
        let left = self.pool(&name).await?.filter(|pool| self.belongs_to_run(pool));
        Ok(left.map(|_| self.wait(format!("for pool {name} to be deleted"))))
    }
}

fn not_ours(name: &str) -> Decision {
    let message = format!("pool {name} exists but was not created by this run");
    Decision::resumable(Reason::NameTaken, message)
}
