//! Rolls back a run as far as possible.

use mooring_workflow::plural::counted;
use mooring_workflow::status::Remaining;
use mooring_workflow::{Finish, NotRead, Reason};

use crate::checks::PROPAGATION_TIMEOUT;
use crate::plan::Step;
use crate::workflow::effects::Effect;
use crate::workflow::{Attempt, Context, Decision, Services, losses_with_abort};

impl<S: Services> Context<'_, S> {
    pub(super) async fn roll_back(&self) -> Result<Decision, NotRead> {
        let name = self.name();
        if let Some(other) = self.was_deleted().await? {
            return Ok(other);
        }
        let mut left = losses_with_abort(self.run);
        for node in self.nodes_of(name).await? {
            if node.unschedulable && self.run.facts.cordoned.contains(&node.name) {
                return Ok(self.effect(Effect::uncordon(node)));
            }
        }
        if self.pool(name).await?.is_none() {
            left.push(Remaining::from(format!(
                "pool {name} was deleted outside this run; the plan in the journal has its configuration"
            )));
        }
        let other = self.remove_temporary(&mut left).await?;
        Ok(other.unwrap_or(Decision::Finish(Finish::Aborted, left)))
    }

    /// Returns a stop or a wait if this run deleted the pool, or may have, which cannot be rolled back.
    async fn was_deleted(&self) -> Result<Option<Decision>, NotRead> {
        let (name, deletion) = (self.name(), self.deletion());
        let pool = self.pool(name).await?;
        if pool.is_none() && deletion.is_none() {
            return Ok(None);
        }
        let goes = pool.is_none_or(|pool| pool.state() == "Deleting");
        let recreated = !goes && deletion.is_some() && self.on_another_set().await?;
        if goes || recreated {
            let how = if recreated {
                "was deleted and recreated"
            } else {
                "was deleted, or is being deleted"
            };
            let message = format!("pool {name} {how}; rollback is not possible, run `resume`");
            return Ok(Some(Decision::resumable(Reason::NotUndoable, message)));
        }
        let is_recent = deletion.is_some_and(|attempt| self.is_recent(attempt));
        Ok(is_recent.then(|| self.wait(format!("for the deletion of pool {name} to be accepted"))))
    }

    /// Returns true if the effect of an attempt may not be visible yet. Attempts from before the abort, possibly by the clock
    /// of another host, count from its start. A time in the future is that of a clock that was ahead.
    fn is_recent(&self, attempt: &Attempt) -> bool {
        let since =
            if self.run.is_before_step(attempt) { self.run.session_since() } else { attempt.at };
        since <= self.now && self.now.duration_since(since) < PROPAGATION_TIMEOUT
    }

    /// Waits while the result of a creation may not be visible yet.
    fn creation_pending(&self, name: &str) -> Option<Decision> {
        let put = self.run.attempt(&Effect::key_of_put(name))?;
        let is_pending = put.may_have_happened()
            && !self.run.has_done(Step::CreateTemporary)
            && !self.run.attempts.contains_key(&Effect::key_of_deletion(name))
            && self.is_recent(put);
        is_pending
            .then(|| self.wait(format!("for pool {name}, whose creation may have been accepted")))
    }

    /// Returns the reason why the cluster needs the temporary pool.
    async fn needed(&self, name: &str) -> Result<Option<String>, NotRead> {
        let running = self.evictable_pods(name).await?.len();
        if running > 0 {
            return Ok(Some(format!("it runs {}", counted(running, "pod"))));
        }
        if !self.nodes_of(name).await?.iter().any(|node| node.ready) {
            return Ok(None);
        }
        let others = self.pools().await?.iter();
        for other in others.filter(|pool| pool.is_system() && pool.name != name) {
            if self.nodes_of(&other.name).await?.iter().any(|node| node.usable()) {
                return Ok(None);
            }
        }
        Ok(Some("no other System pool has a Ready, schedulable node".to_owned()))
    }

    /// Returns what comes before the end, and adds what is kept.
    async fn remove_temporary(
        &self,
        left: &mut Vec<Remaining>,
    ) -> Result<Option<Decision>, NotRead> {
        let name = self.temporary();
        let Some(pool) = self.pool(&name).await? else { return Ok(self.creation_pending(&name)) };
        if !self.belongs_to_run(pool) {
            left.push(format!("pool {name} was kept: its tags name another run or plan").into());
            return Ok(None);
        }
        if pool.busy() {
            let wait = self.wait(format!("for pool {name}, which is {}", pool.state()));
            return Ok(Some(wait));
        }
        let nodes = self.nodes_of(&name).await?;
        if let Some(why) = self.needed(&name).await? {
            if let Some(node) = nodes.iter().find(|node| node.unschedulable) {
                return Ok(Some(self.effect(Effect::uncordon(node))));
            }
            left.push(format!("pool {name} was kept: {why}").into());
            return Ok(None);
        }
        // Cordon first, so that no pod is scheduled between the check and the deletion.
        let effect = match nodes.iter().find(|node| !node.unschedulable) {
            Some(node) => Effect::cordon(node),
            None => Effect::DeletePool { pool: name, if_match: pool.etag() },
        };
        Ok(Some(self.effect(effect)))
    }
}
