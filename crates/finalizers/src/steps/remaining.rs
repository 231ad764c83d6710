//! Objects that remain at the end, with reasons.

use mooring_workflow::NotRead;
use mooring_workflow::reading::{Reading, once};
use mooring_workflow::status::Remaining;

use super::context::{Context, NOT_PLANNED};
use super::objects::spared_key;
use crate::checks::foreign;
use crate::cluster::observation::{CRDS, LiveObject};
use crate::operator::target::Target;
use crate::removal::effect::{Effect, why_not};
use crate::removal::workflow::times_deleted;

impl Context<'_> {
    /// Returns the remaining objects from the final reads. Failed reads count as remaining.
    pub(super) async fn remaining(&self) -> Result<Vec<Remaining>, NotRead> {
        let objects = self.objects().await?;
        let mut left: Vec<_> = objects.known.iter().map(|object| self.of_object(object)).collect();
        for (crd, why) in &objects.unknown {
            left.push(unknown(crd.name(), "*", why.clone()));
        }
        match self.crds().await? {
            Err(why) => left.push(unknown(CRDS, "*", why)),
            Ok(crds) => {
                for crd in crds {
                    let name = crd.name();
                    let has_objects = objects.known.iter().any(|one| one.target.resource == name)
                        || objects.unknown.iter().any(|(other, _)| other.name() == name);
                    let why = self.refusal(&crd.target).unwrap_or_else(|| {
                        let why = match has_objects {
                            false if crd.deleting => "deletion is still in progress",
                            false => "it was recreated",
                            true => "it still has objects",
                        };
                        why.to_owned()
                    });
                    left.push(whole(&crd.target, why));
                }
            }
        }
        for name in &self.profile().cluster_role_bindings {
            match self.binding(name).await? {
                Ok(None) => {}
                Ok(Some(binding)) => left.push(self.of_target(&binding.target)),
                Err(why) => {
                    left.push(unknown("clusterrolebindings.rbac.authorization.k8s.io", name, why));
                }
            }
        }
        self.of_release(&mut left).await?;
        let Some(name) = &self.profile().namespace else { return Ok(left) };
        match self.namespace().await? {
            Ok(None) => {}
            Ok(Some(namespace)) => {
                let held = namespace.held_by.join("; ");
                let why = match self.refusal(&namespace.target) {
                    Some(why) => why,
                    None if !namespace.deleting => self.kept_because().await,
                    None if held.is_empty() => "deletion is still in progress".to_owned(),
                    None => format!("deletion is blocked: {held}"),
                };
                left.push(whole(&namespace.target, why));
            }
            Err(why) => left.push(unknown("namespaces", name, why)),
        }
        Ok(left)
    }

    /// Returns why the run did not delete the namespace.
    async fn kept_because(&self) -> String {
        let is_unknown = self.view.release.get().and_then(Reading::error).is_some()
            || self.view.made.get().and_then(Reading::error).is_some();
        let contents = match once(&self.view.contents, self.cluster.contents()).await {
            _ if is_unknown => None,
            Reading::Known(contents) => foreign(contents, self.terms.named()),
            reading => reading.error().map(|why| format!("its contents {why}")),
        };
        contents.map_or_else(
            || "not deleted because its release is unknown".to_owned(),
            |why| format!("not deleted because {why}"),
        )
    }

    async fn of_release(&self, left: &mut Vec<Remaining>) -> Result<(), NotRead> {
        let Some(release) = &self.profile().release else { return Ok(()) };
        let revisions = match self.revisions().await? {
            Ok(revisions) => revisions,
            Err(why) => {
                let namespace = release.namespace.as_ref().map(|one| format!("{one}/"));
                let namespace = namespace.unwrap_or_default();
                let name = format!("{namespace}sh.helm.release.v1.{}.*", release.name);
                left.push(unknown("secrets", &name, why));
                return Ok(());
            }
        };
        let made = match self.made().await? {
            Ok(made) => made,
            Err(why) => {
                left.push(unknown("*", &format!("resources of release {}", release.name), why));
                &[]
            }
        };
        left.extend(self.removable(made).map(|one| self.of_target(&one.target)));
        for revision in revisions {
            let why = self
                .refusal(&revision.target)
                .unwrap_or_else(|| "it lists what remains of its release".to_owned());
            left.push(whole(&revision.target, why));
        }
        Ok(())
    }

    fn of_target(&self, target: &Target) -> Remaining {
        let why =
            self.refusal(target).unwrap_or_else(|| match times_deleted(self.run, &target.path) {
                0 | 1 => "deletion is still in progress".to_owned(),
                times => came_back(times),
            });
        whole(target, why)
    }

    fn of_object(&self, object: &LiveObject) -> Remaining {
        let (listed, foreign): (Vec<&String>, Vec<&String>) =
            object.finalizers.iter().partition(|finalizer| self.profile().lists(finalizer));
        let times = times_deleted(self.run, &object.target.path);
        let why = if let Some(why) = self.run.facts.spared.get(&spared_key(object)) {
            why.clone()
        } else if let Some(why) = self.refusal(&object.target) {
            why
        } else if times > 1 {
            came_back(times)
        } else if !foreign.is_empty() {
            let owners: Vec<String> =
                foreign.iter().map(|finalizer| self.owner(finalizer)).collect();
            format!("blocked by finalizers not listed in the profile: {}", owners.join("; "))
        } else if !object.deleting {
            "created after the others were deleted".to_owned()
        } else if listed.is_empty() {
            "deletion is still in progress".to_owned()
        } else {
            "timed out removing its finalizers".to_owned()
        };
        Remaining { finalizers: object.finalizers.clone(), ..whole(&object.target, why) }
    }

    /// Describes a finalizer and its possible owner.
    fn owner(&self, finalizer: &str) -> String {
        let who = match finalizer {
            "foregroundDeletion" | "orphan" => {
                "the garbage collector of kube-controller-manager".to_owned()
            }
            other => match other.split_once('/') {
                None => "an unknown controller".to_owned(),
                Some((domain, _))
                    if domain == "kubernetes.io"
                        || domain.ends_with(".kubernetes.io")
                        || domain.ends_with(".k8s.io") =>
                {
                    "a controller of Kubernetes".to_owned()
                }
                Some((domain, _)) => {
                    let all = self.view.crds.get().and_then(Reading::known);
                    let served = all.into_iter().flatten().any(|one| one.group == domain);
                    let installed = if served {
                        "whose API is installed here"
                    } else {
                        "whose API is not installed here"
                    };
                    format!("the controller of {domain}, {installed}")
                }
            },
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
        let failed = last.and_then(|last| why_not(&last.effect, last.result.as_ref()?));
        failed.or_else(|| (!self.terms.covers(target)).then(|| NOT_PLANNED.to_owned()))
    }
}

/// Returns what remains of a kind, or what is unknown of it.
fn unknown(resource: &str, name: &str, why: String) -> Remaining {
    let what = format!("{resource} {name}");
    Remaining { what, explanation: Some(why), finalizers: Vec::new() }
}

fn whole(target: &Target, why: String) -> Remaining {
    Remaining { what: target.to_string(), explanation: Some(why), finalizers: Vec::new() }
}

fn came_back(times: usize) -> String {
    format!("recreated after {times} deletions; something is recreating it")
}
