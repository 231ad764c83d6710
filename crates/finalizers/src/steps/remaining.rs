//! Objects that remain at the end, with reasons.

use mooring_workflow::NotRead;
use mooring_workflow::status::Remaining;

use super::context::{Context, NOT_PLANNED};
use crate::cluster::{Unread, all};
use crate::effect::Effect;
use crate::objects::{BINDINGS, CRDS, Namespace, Object, Target};
use crate::workflow::times_deleted;

const IN_PROGRESS: &str = "deletion is still in progress";

impl Context<'_> {
    /// Returns the remaining objects from the final reads. Failed reads count as remaining.
    pub(super) async fn remaining(&self) -> Result<Vec<Remaining>, NotRead> {
        let objects = self.objects().await?;
        let mut left: Vec<_> = objects.known.iter().map(|object| self.of_object(object)).collect();
        for (crd, why) in &objects.unknown {
            left.push(remaining(&format!("{} *", crd.name()), why));
        }
        if let Err(why) = self.settled(self.cluster.crds().await)? {
            left.push(remaining(&format!("{CRDS} *"), why));
        }
        for (crd, read) in self.cluster.objects().await {
            let why = match read.as_ref().is_ok_and(Vec::is_empty) {
                false => "it still has objects",
                true if crd.deleting => IN_PROGRESS,
                true => "it was recreated",
            };
            left.push(self.of_target(&crd.target, || why.to_owned()));
        }
        for (name, read) in self.cluster.bindings().await {
            match self.settled(read)? {
                Ok(binding) => left.extend(binding.iter().map(|one| self.of_deleted(&one.target))),
                Err(why) => left.push(remaining(&format!("{BINDINGS} {name}"), why)),
            }
        }
        self.of_release(&mut left).await?;
        let Some(name) = &self.profile().namespace else { return Ok(left) };
        match self.settled(self.cluster.namespace().await)? {
            Ok(None) => {}
            Ok(Some(Namespace { target, deleting, held_by })) => {
                let kept = if *deleting { None } else { Some(self.kept_because().await) };
                left.push(self.of_target(target, || match kept {
                    Some(why) => format!("not deleted because {why}"),
                    None if held_by.is_empty() => IN_PROGRESS.to_owned(),
                    None => format!("deletion is blocked: {}", held_by.join("; ")),
                }));
            }
            Err(why) => left.push(remaining(&format!("namespaces {name}"), why)),
        }
        Ok(left)
    }

    /// Returns why the run did not delete the namespace.
    async fn kept_because(&self) -> String {
        let is_known = self.cluster.revisions().await.is_ok() && self.cluster.made().await.is_ok();
        let why = match self.cluster.contents().await {
            _ if !is_known => None,
            Ok(contents) => contents.as_ref().and_then(|one| one.foreign(self.terms.named())),
            Err(Unread::Failed(.., why)) => Some(format!("its contents could not be read ({why})")),
            Err(_) => None,
        };
        why.unwrap_or_else(|| "its release is unknown".to_owned())
    }

    async fn of_release(&self, left: &mut Vec<Remaining>) -> Result<(), NotRead> {
        let Some(release) = &self.profile().release else { return Ok(()) };
        let name = &release.name;
        let revisions = match self.settled(self.cluster.revisions().await)? {
            Ok(revisions) => revisions,
            Err(why) => {
                let place = release.namespace.as_ref().map(|one| format!("{one}/"));
                let place = place.unwrap_or_default();
                left.push(remaining(&format!("secrets {place}sh.helm.release.v1.{name}.*"), why));
                return Ok(());
            }
        };
        match self.settled(self.cluster.made().await)? {
            Ok(made) => {
                left.extend(self.removable(made).map(|one| self.of_deleted(&one.target)));
            }
            Err(why) => left.push(remaining(&format!("* resources of release {name}"), why)),
        }
        let why = || "it lists what remains of its release".to_owned();
        left.extend(revisions.iter().map(|one| self.of_target(&one.target, why)));
        Ok(())
    }

    /// Returns an object, with the reason why its last effect failed, or else another one.
    fn of_target(&self, target: &Target, why: impl FnOnce() -> String) -> Remaining {
        remaining(&target.to_string(), self.refusal(target).unwrap_or_else(why))
    }

    fn of_deleted(&self, target: &Target) -> Remaining {
        let came_back = || came_back(times_deleted(self.run, &target.path));
        self.of_target(target, || came_back().unwrap_or_else(|| IN_PROGRESS.to_owned()))
    }

    fn of_object(&self, object: &Object) -> Remaining {
        let (listed, foreign): (Vec<&String>, Vec<&String>) =
            object.finalizers.iter().partition(|finalizer| self.profile().lists(finalizer));
        let why = || match came_back(times_deleted(self.run, &object.target.path)) {
            Some(why) => why,
            None if !foreign.is_empty() => {
                let owners: Vec<String> = foreign.iter().map(|one| self.owner(one)).collect();
                format!("blocked by finalizers not listed in the profile: {}", owners.join("; "))
            }
            None if !object.deleting => "created after the others were deleted".to_owned(),
            None if listed.is_empty() => IN_PROGRESS.to_owned(),
            None => "timed out removing its finalizers".to_owned(),
        };
        let remaining = match self.run.facts.spared.get(&object.target.key()) {
            Some(why) => remaining(&object.target.to_string(), why),
            None => self.of_target(&object.target, why),
        };
        Remaining { finalizers: object.finalizers.clone(), ..remaining }
    }

    /// Describes a finalizer and its possible owner.
    fn owner(&self, finalizer: &str) -> String {
        let is_of_kubernetes = |domain: &str| {
            domain == "kubernetes.io"
                || domain.ends_with(".kubernetes.io")
                || domain.ends_with(".k8s.io")
        };
        let who = match finalizer.split_once('/') {
            None if matches!(finalizer, "foregroundDeletion" | "orphan") => {
                "the garbage collector of kube-controller-manager".to_owned()
            }
            None => "an unknown controller".to_owned(),
            Some((domain, _)) if is_of_kubernetes(domain) => {
                "a controller of Kubernetes".to_owned()
            }
            Some((domain, _)) => {
                let is_served = all(&self.cluster.view.crds).iter().any(|one| one.group == domain);
                let not = if is_served { "" } else { "not " };
                format!("the controller of {domain}, whose API is {not}installed here")
            }
        };
        format!("{finalizer} ({who})")
    }

    /// Returns the reason why the last effect on this object failed, or why there was none.
    fn refusal(&self, target: &Target) -> Option<String> {
        let is_removal = |effect: &Effect| {
            let own = effect.target();
            own.uid == target.uid
                && own.path == target.path
                && !matches!(effect, Effect::ScaleDown { .. })
        };
        let attempts = self.run.attempts.values().filter(|attempt| is_removal(&attempt.effect));
        let last = attempts.max_by_key(|attempt| attempt.seq);
        let failed = last.and_then(|last| last.effect.why_not(last.result.as_ref()?));
        failed.or_else(|| (!self.terms.covers(target)).then(|| NOT_PLANNED.to_owned()))
    }
}

/// Returns what remains, or what is unknown of it.
fn remaining(what: &str, why: impl Into<String>) -> Remaining {
    Remaining { what: what.to_owned(), explanation: Some(why.into()), finalizers: Vec::new() }
}

fn came_back(times: usize) -> Option<String> {
    let text = || format!("recreated after {times} deletions; something is recreating it");
    (times > 1).then(text)
}
