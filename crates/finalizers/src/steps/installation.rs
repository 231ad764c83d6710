//! The operator, its bindings, its release and its namespace.

use mooring_workflow::Note;
use mooring_workflow::plural::counted;

use super::context::{Context, Unknown, Work, done, stop};
use crate::backup::SavedObject;
use crate::contents::{Contents, Standing};
use crate::effect::Effect;
use crate::objects::{Object, Target, Workload};
use crate::workflow::Decision;

fn deletion(target: &Target) -> Effect {
    Effect::Delete { target: target.clone() }
}

impl Context<'_> {
    /// Scales the operator to zero if requested.
    pub(super) async fn scale_down(&self) -> Result<Decision, Unknown> {
        let unknown = |why| done(format!("unknown: {why}"));
        let workloads = self.known(self.cluster.workloads().await, unknown)?;
        let running: Vec<&Workload> = workloads.iter().filter(|one| one.runs()).collect();
        let Some(first) = running.first().map(|one| &one.target) else {
            return Ok(done("no running operator"));
        };
        if !self.terms.settings.scale_down {
            return Ok(stop(format!("the operator is running ({first})")));
        }
        let may_scale = |one: &Workload| one.is_scalable() && self.terms.covers(&one.target);
        if let Some(Workload { target, .. }) = running.iter().find(|one| !may_scale(one)) {
            return Ok(stop(format!(
                "the operator is running ({target}) and cannot be scaled down there"
            )));
        }
        let wanted = running.iter().filter(|one| one.wanted > 0);
        let effects = wanted
            .map(|one| Effect::ScaleDown { target: one.target.clone(), replicas: one.wanted });
        let never = match self.work(effects).await? {
            Work::First(decision) => return Ok(decision),
            Work::Never(never) => never,
        };
        Ok(if let Some((target, why)) = never.first() {
            stop(format!("{target} cannot be scaled down: {why}"))
        } else if self.expired() {
            stop(format!("the pods of {first} do not terminate"))
        } else {
            self.wait("for the operator's pods to terminate".to_owned())
        })
    }

    pub(super) async fn delete_bindings(&self) -> Result<Decision, Unknown> {
        let (mut effects, mut unknown) = (Vec::new(), 0);
        for (_, read) in self.cluster.bindings().await {
            match self.settled(read)? {
                Ok(binding) => effects.extend(binding.iter().map(|one| deletion(&one.target))),
                Err(_) => unknown += 1,
            }
        }
        Ok(match self.work(effects).await? {
            Work::First(decision) => decision,
            Work::Never(never) => match never.len() + unknown {
                0 => done("no ClusterRoleBinding remains"),
                left => done(format!("{left} ClusterRoleBindings remain")),
            },
        })
    }

    /// Returns the objects of the release that are deleted.
    pub(super) fn removable<'b>(
        &'b self,
        made: &'b [Object],
    ) -> impl Iterator<Item = &'b Object> + 'b {
        made.iter().filter(|one| one.goes_with_release(self.profile()))
    }

    pub(super) async fn delete_release(&self) -> Result<Decision, Unknown> {
        if self.profile().release.is_none() {
            return Ok(done("the profile has no release"));
        }
        let unknown = |why| done(format!("the release is unknown: {why}"));
        let revisions = self.known(self.cluster.revisions().await, unknown)?;
        if revisions.is_empty() {
            return Ok(done("no release remains"));
        }
        let unknown = |why| done(format!("the resources of the release are unknown: {why}"));
        let made = self.known(self.cluster.made().await, unknown)?;
        let living = self.removable(made).filter(|one| !one.deleting);
        let never = match self.work(living.map(|one| deletion(&one.target))).await? {
            Work::First(decision) => return Ok(decision),
            Work::Never(never) => never.len(),
        };
        let going = self.removable(made).filter(|one| one.deleting).count();
        if going > 0 && !self.expired() {
            return Ok(self.wait(format!("for {going} resources of the release to be deleted")));
        }
        // The latest record lists what remains, so it is kept.
        let keep = usize::from(never > 0 || going > 0);
        let mut oldest_first: Vec<_> = revisions.iter().collect();
        oldest_first.sort_by_key(|one| one.revision);
        oldest_first.truncate(revisions.len() - keep);
        let effects = oldest_first.iter().map(|one| deletion(&one.target));
        Ok(match self.work(effects).await? {
            Work::First(decision) => decision,
            Work::Never(never) => match never.len() + keep {
                0 => done("no release remains"),
                left => done(format!("remaining: {} of the release", counted(left, "record"))),
            },
        })
    }

    pub(super) async fn delete_namespace(&self) -> Result<Decision, Unknown> {
        if self.profile().namespace.is_none() {
            return Ok(done("the profile has no namespace"));
        }
        // The namespace has the only record of the release's resources outside it.
        let kept = |why: String| done(format!("the namespace was kept because {why}"));
        let unknown = |why| kept(format!("its release is unknown: {why}"));
        self.known(self.cluster.revisions().await, unknown)?;
        let unknown = |why| kept(format!("the resources of its release are unknown: {why}"));
        self.known(self.cluster.made().await, unknown)?;
        let unknown = |why| done(format!("the namespace is unknown: {why}"));
        let Some(found) = self.known(self.cluster.namespace().await, unknown)? else {
            return Ok(done("the namespace was deleted"));
        };
        if !found.deleting
            && let Some(decision) = self.before_namespace().await?
        {
            return Ok(decision);
        }
        let effect = (!found.deleting).then(|| deletion(&found.target));
        match self.work(effect).await? {
            Work::First(decision) => return Ok(decision),
            Work::Never(never) if never.is_empty() && !self.expired() => {}
            Work::Never(_) => return Ok(done("the namespace was kept")),
        }
        let why = found.held_by.first().map(|held| format!(" ({held})")).unwrap_or_default();
        Ok(self.wait(format!("for the namespace to be deleted{why}")))
    }

    /// Returns what comes before the deletion of the namespace, or why it is kept: the operator is gone, the namespace has
    /// nothing but what the plan names, and the journal has a copy of it.
    async fn before_namespace(&self) -> Result<Option<Decision>, Unknown> {
        if let Some(stop) = self.operator_runs().await? {
            return Ok(Some(stop));
        }
        let kept = |why| done(format!("the namespace was kept: {why}"));
        // The contents are read last, right before the namespace is deleted.
        let Some(contents) = self.known(self.cluster.contents().await, kept)? else {
            return Ok(None);
        };
        if let Some(why) = contents.foreign(self.terms.named()) {
            // What the run deleted may take a while to be gone.
            let is_over = self.expired();
            let wait = |why| self.wait(format!("because {why}"));
            return Ok(Some(if is_over { kept(why) } else { wait(why) }));
        }
        let Some(target) = self.next_backup(contents) else {
            // The copies took time: all of it is read again right before the deletion.
            let is_old = self.run.seq > self.view_seq;
            return Ok(is_old.then_some(Decision::Refresh));
        };
        let whole = self.cluster.whole(&target.path).await;
        let is_same = |whole: &&serde_json::Value| whole["metadata"]["uid"] == target.uid.as_str();
        let backup = whole.known().filter(is_same).and_then(|one| SavedObject::backup(one).ok());
        let key = target.key();
        let how = if backup.is_some() { "was" } else { "could not be" };
        let text = format!("{key} {how} saved to the journal");
        let mut facts = self.run.facts.clone();
        facts.saved.insert(key);
        Ok(Some(Decision::Note(Box::new(Note { facts, backup, text }))))
    }

    /// Returns the next object of the namespace without a copy. A copy of a Secret would be one of its data, and what another
    /// object controls is made again from that.
    fn next_backup<'c>(&self, contents: &'c Contents) -> Option<&'c Target> {
        let standings = contents.standings(self.terms.named(), None);
        let mut next = standings.into_iter().filter(|(one, standing)| {
            *standing == Standing::Named
                && !one.deleting
                && one.controller.is_none()
                && one.target.resource != "secrets"
                && !self.run.facts.saved.contains(&one.target.key())
        });
        next.next().map(|(one, _)| &one.target)
    }
}
