//! Custom resources, their finalizers and their CRDs.

use std::collections::BTreeSet;

use mooring_workflow::{EffectResult, NotRead, Note, Reading, Refusal};

use super::context::{Context, Objects, Work};
use super::done;
use crate::cluster::observation::{LiveObject, OperatorWorkload};
use crate::cluster::unreadable::unreadable;
use crate::removal::backup::SavedObject;
use crate::removal::effect::Effect;
use crate::removal::workflow::Decision;

fn deletions(objects: &Objects<'_>) -> Vec<Effect> {
    let living = objects.known.iter().filter(|object| !object.deleting);
    living.map(|object| Effect::Delete { target: object.target.clone() }).collect()
}

/// The removal of an object's finalizers.
enum Removal {
    Wanted(Box<Effect>),
    /// The object is skipped, with the reason.
    Spare(String),
    /// Done since the last read.
    Handled,
    None,
}

impl Context<'_> {
    pub(super) async fn delete_objects(&self) -> Result<Decision, NotRead> {
        let objects = self.objects().await?;
        let never = match self.work(deletions(&objects)).await? {
            Work::First(decision) => return Ok(decision),
            Work::Never(never) => never.len(),
        };
        let attempts = self.run.attempts.values();
        let is_deletion = |effect: &Effect| matches!(effect, Effect::Delete { .. });
        let deleted = attempts.filter(|attempt| is_deletion(&attempt.effect)).count();
        let mut evidence = vec![format!("{deleted} objects are deleted or being deleted")];
        if never > 0 {
            evidence.push(format!("{never} could not be deleted"));
        }
        Ok(Decision::Done(evidence))
    }

    /// Waits for the teardown of a running operator.
    pub(super) async fn wait_for_teardown(&self) -> Result<Decision, NotRead> {
        let controllers = self.controllers().await?.unwrap_or_default();
        if !controllers.iter().any(OperatorWorkload::runs) {
            return Ok(done("no running operator"));
        }
        let objects = self.objects().await?.known;
        if objects.is_empty() {
            return Ok(done("the operator removed all objects"));
        }
        // Recreated objects are deleted once it has stopped.
        let going = objects.iter().any(|object| object.deleting);
        if !going || self.lasted(self.terms.settings.limits.teardown()) {
            return Ok(done(format!("the operator left {} objects", objects.len())));
        }
        Ok(self.wait(format!("for the operator to remove {} objects", objects.len())))
    }

    pub(super) async fn remove_finalizers(&self) -> Result<Decision, NotRead> {
        let objects = self.objects().await?;
        if objects.known.is_empty() {
            return Ok(done("no object remains"));
        }
        if let Some(stop) = self.operator_runs().await? {
            return Ok(stop);
        }
        let mut stuck = BTreeSet::new();
        // A wait does not delay other objects.
        let mut later = None;
        match self.work(deletions(&objects)).await? {
            Work::First(decision @ (Decision::Wait { .. } | Decision::Refresh)) => {
                later = Some(decision);
            }
            Work::First(decision) => return Ok(decision),
            Work::Never(never) => stuck.extend(never.into_iter().map(|(target, _)| target.uid)),
        }
        let mut handled = false;
        for object in objects.known.iter().filter(|object| object.deleting) {
            let effect = match self.removal(object).await {
                Removal::Wanted(effect) => effect,
                Removal::Spare(why) => {
                    let key = spared_key(object);
                    let text = format!("{key} was skipped: {why}");
                    let mut facts = self.run.facts.clone();
                    facts.spared.insert(key, why);
                    let note = Note { facts, backup: None, text };
                    return Ok(Decision::Note(Box::new(note)));
                }
                Removal::Handled => {
                    handled = true;
                    continue;
                }
                Removal::None => continue,
            };
            match self.work([*effect]).await? {
                Work::First(Decision::Refresh) => later = Some(Decision::Refresh),
                Work::First(wait @ Decision::Wait { .. }) => later = later.or(Some(wait)),
                Work::First(decision) => return Ok(decision),
                Work::Never(never) => stuck.extend(never.into_iter().map(|(target, _)| target.uid)),
            }
        }
        if handled {
            return Ok(Decision::Refresh);
        }
        if let Some(later) = later {
            return Ok(later);
        }
        let hopeless = |object: &&&LiveObject| {
            stuck.contains(&object.target.uid)
                || self.run.facts.spared.contains_key(&spared_key(object))
                || self.is_refused_for_good(object)
        };
        let hoped = objects.known.iter().filter(|object| !hopeless(object)).count();
        if hoped == 0 || self.expired() {
            return Ok(done(format!("{} objects remain", objects.known.len())));
        }
        Ok(self.wait(format!("for {hoped} objects to be deleted")))
    }

    fn is_refused_for_good(&self, object: &LiveObject) -> bool {
        self.run.attempts.get(&strip_key(object)).is_some_and(|attempt| {
            attempt.result.as_ref().and_then(EffectResult::refusal) == Some(Refusal::Final)
                && !self.run.is_before_session(attempt)
        })
    }

    /// Returns the removal of an object's listed finalizers, from its current state. Whole objects are large, and each is
    /// needed once.
    async fn removal(&self, object: &LiveObject) -> Removal {
        let listed = |finalizer: &String| self.profile().lists(finalizer);
        if !object.finalizers.iter().any(listed)
            || self.run.facts.spared.contains_key(&spared_key(object))
        {
            return Removal::None;
        }
        if self.is_handled(&strip_key(object)) {
            return Removal::Handled;
        }
        if self.is_refused_for_good(object) {
            return Removal::None;
        }
        let path = &object.target.path;
        let whole = match self.cluster.whole(path).await {
            Reading::Known(whole) => whole,
            // Deleted since, or the next read shows it.
            Reading::NotFound | Reading::Failed(_) => return Removal::None,
            denied => return Removal::Spare(unreadable(("get", path), &denied)),
        };
        // Replaced or changed since: the next read shows it.
        let Some(now) = object.renewed(&whole).filter(|now| now.deleting) else {
            return Removal::None;
        };
        let (removed, kept): (Vec<String>, Vec<String>) =
            now.finalizers.iter().cloned().partition(listed);
        if removed.is_empty() {
            return Removal::None;
        }
        match SavedObject::backup(&whole) {
            Ok(backup) => Removal::Wanted(Box::new(Effect::Strip {
                target: now.target,
                version: now.version,
                removed,
                kept,
                backup,
            })),
            Err(bytes) => {
                Removal::Spare(format!("its backup ({bytes} bytes) does not fit into a ConfigMap"))
            }
        }
    }

    /// Deletes CRDs that are known to have no objects: others would hang in deletion, and block everything that lists resources.
    pub(super) async fn delete_crds(&self) -> Result<Decision, NotRead> {
        let crds = match self.crds().await? {
            Ok(crds) => crds,
            Err(why) => return Ok(done(format!("CRDs were kept: {why}"))),
        };
        if crds.is_empty() {
            return Ok(done("no CRD remains"));
        }
        let objects = self.objects().await?;
        let holds = |name: &str| objects.known.iter().any(|object| object.target.resource == name);
        let unknown = |name: &str| objects.unknown.iter().any(|(crd, _)| crd.name() == name);
        let empty: Vec<_> =
            crds.iter().filter(|crd| !holds(crd.name()) && !unknown(crd.name())).collect();
        let effects = empty
            .iter()
            .filter(|crd| !crd.deleting)
            .map(|crd| Effect::Delete { target: crd.target.clone() });
        let never = match self.work(effects).await? {
            Work::First(decision) => return Ok(decision),
            Work::Never(never) => never.len(),
        };
        let going = empty.iter().filter(|crd| crd.deleting).count();
        if going > 0 && !self.expired() {
            return Ok(self.wait(format!("for {going} CRDs to be deleted")));
        }
        Ok(match crds.len() - empty.len() + never + going {
            0 => done("all CRDs were deleted"),
            stays => done(format!("{stays} CRDs remain")),
        })
    }
}

pub(super) fn spared_key(object: &LiveObject) -> String {
    format!("{} {}", object.target.path, object.target.uid)
}

fn strip_key(object: &LiveObject) -> String {
    format!("strip {} {}", object.target, object.target.uid)
}
