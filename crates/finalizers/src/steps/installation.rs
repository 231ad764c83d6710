//! The operator, its bindings, its release and its namespace.

use mooring_workflow::plural::counted;
use mooring_workflow::{NotRead, Note, Reason};

use super::context::{Context, Found, Work, stop};
use super::done;
use crate::checks::foreign;
use crate::cluster::contents::{Contents, Standing};
use crate::cluster::helm::{ReleaseObject, Revision};
use crate::cluster::observation::OperatorWorkload;
use crate::operator::profile::ReleaseResources;
use crate::operator::target::Target;
use crate::removal::backup::SavedObject;
use crate::removal::effect::Effect;
use crate::removal::workflow::Decision;

impl<'a> Context<'a> {
    /// Scales the operator to zero if requested.
    pub(super) async fn scale_down(&self) -> Result<Decision, NotRead> {
        let controllers = match self.controllers().await? {
            Ok(controllers) => controllers,
            Err(why) => return Ok(done(format!("unknown: {why}"))),
        };
        let running: Vec<_> = controllers.iter().filter(|controller| controller.runs()).collect();
        let Some(first) = running.first().map(|one| &one.target) else {
            return Ok(done("no running operator"));
        };
        let runs = |message: String| stop(Reason::CheckFailed, message);
        if !self.terms.settings.scale_down {
            return Ok(runs(format!("the operator is running ({first})")));
        }
        let covered = |one: &OperatorWorkload| one.is_scalable() && self.terms.covers(&one.target);
        if let Some(other) = running.iter().find(|one| !covered(one)) {
            let other = &other.target;
            return Ok(runs(format!(
                "the operator is running ({other}) and cannot be scaled down there"
            )));
        }
        let wanted = running.iter().filter(|controller| controller.wanted > 0);
        let effects = wanted.map(|controller| Effect::ScaleDown {
            target: controller.target.clone(),
            replicas: controller.wanted,
        });
        let never = match self.work(effects).await? {
            Work::First(decision) => return Ok(decision),
            Work::Never(never) => never,
        };
        if let Some((target, why)) = never.first() {
            return Ok(runs(format!("{target} cannot be scaled down: {why}")));
        }
        if self.expired() {
            return Ok(runs(format!("the pods of {first} do not terminate")));
        }
        Ok(self.wait("for the operator's pods to terminate".to_owned()))
    }

    pub(super) async fn delete_bindings(&self) -> Result<Decision, NotRead> {
        let mut effects = Vec::new();
        let mut unknown = 0;
        for name in &self.profile().cluster_role_bindings {
            match self.binding(name).await? {
                Ok(found) => effects
                    .extend(found.map(|binding| Effect::Delete { target: binding.target.clone() })),
                Err(_) => unknown += 1,
            }
        }
        Ok(match self.work(effects).await? {
            Work::First(decision) => decision,
            Work::Never(never) if never.len() + unknown == 0 => {
                done("no ClusterRoleBinding remains")
            }
            Work::Never(never) => {
                done(format!("{} ClusterRoleBindings remain", never.len() + unknown))
            }
        })
    }

    /// Returns the objects of the release that are deleted.
    pub(super) fn removable<'b>(
        &self,
        made: &'b [ReleaseObject],
    ) -> impl Iterator<Item = &'b ReleaseObject> + use<'b> {
        let release = self.profile().release.as_ref();
        let wanted = release.is_some_and(|release| release.resources == ReleaseResources::Delete);
        made.iter().filter(move |one| wanted && one.goes())
    }

    pub(super) async fn delete_release(&self) -> Result<Decision, NotRead> {
        if self.profile().release.is_none() {
            return Ok(done("the profile has no release"));
        }
        let revisions = match self.revisions().await? {
            Ok([]) => return Ok(done("no release remains")),
            Ok(revisions) => revisions,
            Err(why) => return Ok(done(format!("the release is unknown: {why}"))),
        };
        let made = match self.made().await? {
            Ok(made) => made,
            Err(why) => {
                return Ok(done(format!("the resources of the release are unknown: {why}")));
            }
        };
        let living = self.removable(made).filter(|one| !one.deleting);
        let effects = living.map(|one| Effect::Delete { target: one.target.clone() });
        let never = match self.work(effects).await? {
            Work::First(decision) => return Ok(decision),
            Work::Never(never) => never.len(),
        };
        let going = self.removable(made).filter(|one| one.deleting).count();
        if going > 0 && !self.expired() {
            return Ok(self.wait(format!("for {going} resources of the release to be deleted")));
        }
        // The latest record lists what remains, so it is kept.
        let keep = usize::from(never > 0 || going > 0);
        let mut oldest_first: Vec<&Revision> = revisions.iter().collect();
        oldest_first.sort_by_key(|revision| revision.revision);
        oldest_first.truncate(revisions.len() - keep);
        let effects =
            oldest_first.iter().map(|revision| Effect::Delete { target: revision.target.clone() });
        Ok(match self.work(effects).await? {
            Work::First(decision) => decision,
            Work::Never(never) if never.len() + keep == 0 => done("no release remains"),
            Work::Never(never) => {
                let records = counted(never.len() + keep, "record");
                done(format!("remaining: {records} of the release"))
            }
        })
    }

    pub(super) async fn delete_namespace(&self) -> Result<Decision, NotRead> {
        if self.profile().namespace.is_none() {
            return Ok(done("the profile has no namespace"));
        }
        // The namespace has the only record of the release's resources outside it.
        if self.profile().release.is_some() {
            let unknown = match (self.revisions().await?, self.made().await?) {
                (Err(why), _) => Some(format!("its release is unknown: {why}")),
                (_, Err(why)) => Some(format!("the resources of its release are unknown: {why}")),
                _ => None,
            };
            if let Some(why) = unknown {
                return Ok(done(format!("the namespace was kept because {why}")));
            }
        }
        let found = match self.namespace().await? {
            Ok(None) => return Ok(done("the namespace was deleted")),
            Ok(Some(namespace)) => namespace,
            Err(why) => return Ok(done(format!("the namespace is unknown: {why}"))),
        };
        if !found.deleting {
            match self.contents_planned().await? {
                Ok(None) => {}
                Ok(Some(decision)) => return Ok(decision),
                Err(why) => return Ok(done(format!("the namespace was kept: {why}"))),
            }
        }
        let effect = Effect::Delete { target: found.target.clone() };
        match self.work((!found.deleting).then_some(effect)).await? {
            Work::First(decision) => return Ok(decision),
            Work::Never(never) if never.is_empty() && !self.expired() => {}
            Work::Never(_) => return Ok(done("the namespace was kept")),
        }
        let why = found.held_by.first().map(|held| format!(" ({held})")).unwrap_or_default();
        Ok(self.wait(format!("for the namespace to be deleted{why}")))
    }

    /// Returns what comes before the deletion of the namespace, or why it is kept: the operator is gone, the namespace has
    /// nothing but what the plan names, and the journal has a copy of it.
    async fn contents_planned(&self) -> Found<Option<Decision>> {
        if let Some(stop) = self.operator_runs().await? {
            return Ok(Ok(Some(stop)));
        }
        // The contents are read last, right before the namespace is deleted.
        let contents = match self.contents().await? {
            Ok(Some(contents)) => contents,
            Ok(None) => return Ok(Ok(None)),
            Err(why) => return Ok(Err(why)),
        };
        if let Some(why) = foreign(contents, self.terms.named()) {
            // What the run deleted may take a while to be gone.
            let is_over = self.expired();
            return Ok(if is_over {
                Err(why)
            } else {
                Ok(Some(self.wait(format!("because {why}"))))
            });
        }
        let Some(target) = self.next_backup(contents) else {
            // The copies took time: all of it is read again right before the deletion.
            let is_old = self.run.seq > self.view_seq;
            return Ok(Ok(is_old.then_some(Decision::Refresh)));
        };
        let whole = self.cluster.whole(&target.path).await;
        let same = |whole: &&serde_json::Value| whole["metadata"]["uid"] == target.uid.as_str();
        let backup = whole.known().filter(same).and_then(|whole| SavedObject::backup(whole).ok());
        let key = saved_key(target);
        let how = if backup.is_some() { "was" } else { "could not be" };
        let text = format!("{key} {how} saved to the journal");
        let mut facts = self.run.facts.clone();
        facts.saved.insert(key);
        Ok(Ok(Some(Decision::Note(Box::new(Note { facts, backup, text })))))
    }

    /// Returns the next object of the namespace without a copy. A copy of a Secret would be one of its data, and what another
    /// object controls is made again from that.
    fn next_backup(&self, contents: &'a Contents) -> Option<&'a Target> {
        let standings = contents.standings(self.terms.named(), None);
        let mut next = standings.into_iter().filter(|(one, standing)| {
            *standing == Standing::Named
                && !one.deleting
                && one.controller.is_none()
                && one.target.resource != "secrets"
                && !self.run.facts.saved.contains(&saved_key(&one.target))
        });
        next.next().map(|(one, _)| &one.target)
    }
}

fn saved_key(target: &Target) -> String {
    format!("{} {}", target.path, target.uid)
}
