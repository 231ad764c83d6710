//! Custom resources, their finalizers and their CRDs.

use std::collections::BTreeSet;

use mooring_workflow::{EffectResult, Note, Reading, Refusal};

use super::context::{Context, Objects, Unknown, Work, done};
use crate::backup::SavedObject;
use crate::effect::Effect;
use crate::objects::{Crd, Object, Workload};
use crate::workflow::Decision;

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
    pub(super) async fn delete_objects(&self) -> Result<Decision, Unknown> {
        let objects = self.objects().await?;
        let never = match self.work(deletions(&objects)).await? {
            Work::First(decision) => return Ok(decision),
            Work::Never(never) => never.len(),
        };
        let attempts = self.run.attempts.values();
        let deleted = attempts.filter(|attempt| matches!(attempt.effect, Effect::Delete { .. }));
        let mut evidence =
            vec![format!("{} objects are deleted or being deleted", deleted.count())];
        if never > 0 {
            evidence.push(format!("{never} could not be deleted"));
        }
        Ok(Decision::Done(evidence))
    }

    /// Waits for the teardown of a running operator.
    pub(super) async fn wait_for_teardown(&self) -> Result<Decision, Unknown> {
        let stopped = || done("no running operator");
        let workloads = self.known(self.cluster.workloads().await, |_| stopped())?;
        if !workloads.iter().any(Workload::runs) {
            return Ok(stopped());
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

    pub(super) async fn remove_finalizers(&self) -> Result<Decision, Unknown> {
        let objects = self.objects().await?;
        let all = objects.known.len();
        if all == 0 {
            return Ok(done("no object remains"));
        }
        if let Some(stop) = self.operator_runs().await? {
            return Ok(stop);
        }
        let mut stuck = BTreeSet::new();
        // A wait does not delay other objects.
        let (mut handled, mut later) = (false, None);
        match self.work(deletions(&objects)).await? {
            Work::First(wait @ (Decision::Wait { .. } | Decision::Refresh)) => later = Some(wait),
            Work::First(decision) => return Ok(decision),
            Work::Never(never) => stuck.extend(never.into_iter().map(|(target, _)| target.uid)),
        }
        for object in objects.known.iter().filter(|object| object.deleting) {
            let effect = match self.removal(object).await {
                Removal::Wanted(effect) => effect,
                Removal::Spare(why) => {
                    let key = object.target.key();
                    let text = format!("{key} was skipped: {why}");
                    let mut facts = self.run.facts.clone();
                    facts.spared.insert(key, why);
                    return Ok(Decision::Note(Box::new(Note { facts, backup: None, text })));
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
        let next = if handled { Some(Decision::Refresh) } else { later };
        if let Some(next) = next {
            return Ok(next);
        }
        let is_hopeless = |object: &&&Object| {
            stuck.contains(&object.target.uid)
                || self.is_spared(object)
                || self.is_refused_for_good(object)
        };
        let hoped = objects.known.iter().filter(|object| !is_hopeless(object)).count();
        if hoped == 0 || self.expired() {
            return Ok(done(format!("{all} objects remain")));
        }
        Ok(self.wait(format!("for {hoped} objects to be deleted")))
    }

    pub(super) fn is_spared(&self, object: &Object) -> bool {
        self.run.facts.spared.contains_key(&object.target.key())
    }

    fn is_refused_for_good(&self, object: &Object) -> bool {
        self.run.attempts.get(&strip_key(object)).is_some_and(|attempt| {
            attempt.result.as_ref().and_then(EffectResult::refusal) == Some(Refusal::Final)
                && !self.run.is_before_session(attempt)
        })
    }

    /// Returns the removal of an object's listed finalizers, from its current state. Whole objects are large, and each is
    /// needed once.
    async fn removal(&self, object: &Object) -> Removal {
        let is_listed = |finalizer: &String| self.profile().lists(finalizer);
        if !object.finalizers.iter().any(is_listed) || self.is_spared(object) {
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
            _ => {
                let why = format!("access denied: missing permission get on {path}");
                return Removal::Spare(why);
            }
        };
        // Replaced or changed since: the next read shows it.
        let Some(now) = object.renewed(&whole).filter(|now| now.deleting) else {
            return Removal::None;
        };
        let (removed, kept): (Vec<String>, Vec<String>) =
            now.finalizers.into_iter().partition(is_listed);
        if removed.is_empty() {
            return Removal::None;
        }
        match SavedObject::backup(&whole) {
            Ok(backup) => {
                let (target, version) = (now.target, now.version);
                let effect = Effect::Strip { target, version, removed, kept, backup };
                Removal::Wanted(Box::new(effect))
            }
            Err(bytes) => {
                Removal::Spare(format!("its backup ({bytes} bytes) does not fit into a ConfigMap"))
            }
        }
    }

    /// Deletes CRDs that are known to have no objects: others would hang in deletion, and block everything that lists resources.
    pub(super) async fn delete_crds(&self) -> Result<Decision, Unknown> {
        let kept = |why| done(format!("CRDs were kept: {why}"));
        self.known(self.cluster.crds().await, kept)?;
        let crds = self.cluster.objects().await;
        if crds.is_empty() {
            return Ok(done("no CRD remains"));
        }
        self.objects().await?;
        let empty = crds.iter().filter(|(_, read)| read.as_ref().is_ok_and(Vec::is_empty));
        let empty: Vec<&Crd> = empty.map(|(crd, _)| crd).collect();
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

fn strip_key(object: &Object) -> String {
    format!("strip {} {}", object.target, object.target.uid)
}
