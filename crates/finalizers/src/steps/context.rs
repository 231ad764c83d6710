//! Inputs of a step, reads for it, and the retry policy of its effects.

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::reading::once;
use mooring_workflow::retry::{Retry, RetryPolicy};
use mooring_workflow::{NotRead, Reading, Reason};

use crate::cluster::contents::Contents;
use crate::cluster::evidence::Lease;
use crate::cluster::helm::{ReleaseObject, Revision};
use crate::cluster::observation::{Binding, Crd, LiveObject, Namespace, OperatorWorkload};
use crate::cluster::unreadable::{
    NOT_SERVED, Need, READ_CONTENTS, READ_CONTROLLERS, READ_CRDS, READ_LEASES, READ_MADE,
    READ_NAMESPACE, READ_RELEASE, binding, unreadable,
};
use crate::cluster::view::OperatorView;
use crate::operator::profile::Profile;
use crate::operator::target::Target;
use crate::plan::terms::Terms;
use crate::removal::effect::{Effect, why_not};
use crate::removal::workflow::{Decision, Run};
use crate::runtime::OperatorCluster;

/// Attempts of an effect before the object is skipped.
const MAX_ATTEMPTS: u32 = 12;
/// Attempts without a pause, since the next list shows the result.
const IMMEDIATE_ATTEMPTS: u32 = 3;
const MAX_PAUSE: SignedDuration = SignedDuration::from_secs(30);

pub(crate) struct Context<'a> {
    pub(crate) terms: &'a Terms,
    pub(crate) run: &'a Run,
    pub(crate) cluster: &'a OperatorCluster,
    pub(crate) view: &'a OperatorView,
    /// The last change before the oldest read of the view, which may not show later effects.
    pub(crate) view_seq: u64,
    pub(crate) now: Timestamp,
}

/// A value, none if it does not exist, or the reason why it is unknown.
pub(crate) type Found<T> = Result<Result<T, String>, NotRead>;

/// Objects of all CRDs, and CRDs whose objects are unknown.
pub(crate) struct Objects<'a> {
    pub(crate) known: Vec<&'a LiveObject>,
    /// CRDs whose objects are unknown, with reasons.
    pub(crate) unknown: Vec<(&'a Crd, String)>,
}

/// Effects of a step that are not applied now.
pub(crate) enum Work {
    /// What comes first: an effect, or a wait.
    First(Decision),
    /// None is left, except for those that are never applied, with the reasons, in order.
    Never(Vec<(Target, String)>),
}

/// State of a requested effect.
enum Readiness {
    Act,
    /// Done since the last read.
    Handled,
    Later(Timestamp),
    /// Never, with the reason.
    Never(String),
}

pub(crate) fn stop(reason: Reason, message: impl Into<String>) -> Decision {
    Decision::resumable(reason, message)
}

impl<'a> Context<'a> {
    pub(crate) fn profile(&self) -> &'a Profile {
        &self.terms.settings.profile
    }

    pub(crate) fn wait(&self, why: String) -> Decision {
        let poll = self.terms.settings.limits.poll;
        let until = self.cluster.now().checked_add(poll).unwrap_or(Timestamp::MAX);
        Decision::Wait { until, why }
    }

    /// Returns true if the timeout of the step has expired.
    pub(crate) fn expired(&self) -> bool {
        self.lasted(self.terms.settings.limits.step())
    }

    pub(crate) fn lasted(&self, limit: SignedDuration) -> bool {
        self.now.duration_since(self.run.step_since()) >= limit
    }

    /// Returns a reading. A failed read is retried until the timeout of the step, and then returned as a reason.
    fn found<T>(&self, need: Need<'_>, reading: &'a Reading<T>) -> Found<Option<&'a T>> {
        match reading {
            Reading::Known(value) => Ok(Ok(Some(value))),
            Reading::NotFound => Ok(Ok(None)),
            Reading::Failed(why) if !self.expired() => {
                let (verb, resource) = need;
                Err(NotRead::Failed(format!("{verb} {resource} ({why})")))
            }
            missing => Ok(Err(unreadable(need, missing))),
        }
    }

    /// Returns the CRDs of the profile, or why they are unknown.
    pub(crate) async fn crds(&self) -> Found<Vec<&'a Crd>> {
        if self.profile().groups.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        let found = self.found(READ_CRDS, once(&self.view.crds, self.cluster.crds()).await)?;
        let ours = |all: &'a Vec<Crd>| {
            all.iter().filter(|one| self.profile().has_group(&one.group)).collect()
        };
        Ok(found.map(|all| all.map(ours).unwrap_or_default()))
    }

    pub(crate) async fn objects(&self) -> Result<Objects<'a>, NotRead> {
        let mut objects = Objects { known: Vec::new(), unknown: Vec::new() };
        for crd in self.crds().await?.unwrap_or_default() {
            if crd.version.is_none() {
                objects.unknown.push((crd, NOT_SERVED.to_owned()));
                continue;
            }
            let reading = self.view.objects.once(crd.name(), self.cluster.objects(crd)).await;
            match self.found(("list", crd.name()), reading)? {
                Ok(found) => objects.known.extend(found.into_iter().flatten()),
                Err(why) => objects.unknown.push((crd, why)),
            }
        }
        Ok(objects)
    }

    pub(crate) async fn controllers(&self) -> Found<&'a [OperatorWorkload]> {
        let reading = once(&self.view.controllers, self.cluster.controllers()).await;
        Ok(self.found(READ_CONTROLLERS, reading)?.map(slice))
    }

    pub(crate) async fn leases(&self) -> Found<&'a [Lease]> {
        let reading = once(&self.view.leases, self.cluster.leases()).await;
        Ok(self.found(READ_LEASES, reading)?.map(slice))
    }

    pub(crate) async fn binding(&self, name: &str) -> Found<Option<&'a Binding>> {
        let reading = self.view.bindings.once(name, self.cluster.binding(name)).await;
        self.found(("get", &binding(name)), reading)
    }

    pub(crate) async fn revisions(&self) -> Found<&'a [Revision]> {
        let reading = once(&self.view.release, self.cluster.revisions()).await;
        Ok(self.found(READ_RELEASE, reading)?.map(slice))
    }

    pub(crate) async fn made(&self) -> Found<&'a [ReleaseObject]> {
        let reading = once(&self.view.made, self.cluster.made()).await;
        Ok(self.found(READ_MADE, reading)?.map(slice))
    }

    pub(crate) async fn namespace(&self) -> Found<Option<&'a Namespace>> {
        let reading = once(&self.view.namespace, self.cluster.namespace()).await;
        self.found(READ_NAMESPACE, reading)
    }

    pub(crate) async fn contents(&self) -> Found<Option<&'a Contents>> {
        let reading = once(&self.view.contents, self.cluster.contents()).await;
        self.found(READ_CONTENTS, reading)
    }

    /// Returns the first effect that is due, or else the wait for one.
    pub(crate) async fn work(
        &self,
        effects: impl IntoIterator<Item = Effect>,
    ) -> Result<Work, NotRead> {
        let (mut handled, mut soonest) = (false, None::<(Timestamp, String)>);
        let mut never = Vec::new();
        for effect in effects {
            match self.readiness(&effect) {
                Readiness::Act => {
                    if !matches!(effect, Effect::ScaleDown { .. })
                        && let Some(other) = self.operator_runs().await?
                    {
                        return Ok(Work::First(other));
                    }
                    return Ok(Work::First(Decision::Apply(Box::new(effect))));
                }
                Readiness::Handled => handled = true,
                Readiness::Later(until) => {
                    if soonest.as_ref().is_none_or(|(first, _)| until < *first) {
                        soonest = Some((until, format!("before retrying: {}", effect.key())));
                    }
                }
                Readiness::Never(why) => never.push((effect.target().clone(), why)),
            }
        }
        Ok(match soonest {
            _ if handled => Work::First(Decision::Refresh),
            Some((until, why)) => Work::First(Decision::Wait { until, why }),
            None => Work::Never(never),
        })
    }

    /// Returns true if the object was changed since the last read.
    pub(crate) fn is_handled(&self, key: &str) -> bool {
        self.run.attempts.get(key).is_some_and(|attempt| attempt.seq > self.view_seq)
    }

    fn readiness(&self, effect: &Effect) -> Readiness {
        // The only place that allows effects: unplanned ones are not approved.
        if !self.terms.covers(effect.target()) {
            return Readiness::Never(NOT_PLANNED.to_owned());
        }
        let key = effect.key();
        if self.is_handled(&key) {
            return Readiness::Handled;
        }
        let Some(attempt) = self.run.attempts.get(&key) else { return Readiness::Act };
        let policy = RetryPolicy {
            max_attempts: MAX_ATTEMPTS,
            max_pause: MAX_PAUSE,
            poll: self.terms.settings.limits.poll,
            immediate: IMMEDIATE_ATTEMPTS,
        };
        let result = attempt.result.as_ref();
        let why = || result.and_then(|result| why_not(effect, result));
        let refusal = result.and_then(mooring_workflow::EffectResult::refusal);
        let is_asked_again = self.run.is_before_session(attempt);
        match policy.decide(Some(attempt), refusal, is_asked_again, self.now) {
            Retry::Now => Readiness::Act,
            Retry::At(until) => match why() {
                Some(why) if self.expired() => Readiness::Never(why),
                _ => Readiness::Later(until),
            },
            Retry::Refused | Retry::Exhausted => {
                Readiness::Never(why().unwrap_or_else(|| {
                    format!("no visible effect after {} attempts", attempt.count)
                }))
            }
        }
    }
}

fn slice<T>(found: Option<&Vec<T>>) -> &[T] {
    found.map(Vec::as_slice).unwrap_or_default()
}

pub(crate) const NOT_PLANNED: &str =
    "not part of the approved plan because it was created later; plan and apply again";
