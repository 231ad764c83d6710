//! Inputs of a step, its effects, and the check before every effect that deletes or removes finalizers.

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::retry::{Retry, RetryPolicy};
use mooring_workflow::{EffectResult, NotRead, Reason};

use crate::cluster::{OperatorCluster, Read, Unread};
use crate::effect::Effect;
use crate::objects::{Crd, Object, Target, Workload};
use crate::plan::Terms;
use crate::profile::Profile;
use crate::step::Step;
use crate::workflow::{Decision, Run};

/// Attempts of an effect before the object is skipped.
const MAX_ATTEMPTS: u32 = 12;
/// Attempts without a pause, since the next list shows the result.
const IMMEDIATE_ATTEMPTS: u32 = 3;
const MAX_PAUSE: SignedDuration = SignedDuration::from_secs(30);
/// Maximum clock skew between the cluster and this process.
const LEASE_GRACE: SignedDuration = SignedDuration::from_secs(15);

pub(crate) const NOT_PLANNED: &str =
    "not part of the approved plan because it was created later; plan and apply again";

pub(crate) struct Context<'a> {
    pub(crate) terms: &'a Terms,
    pub(crate) run: &'a Run,
    pub(crate) cluster: &'a OperatorCluster,
    /// The last change before the oldest read of the cluster, which may not show later effects.
    pub(crate) view_seq: u64,
    pub(crate) now: Timestamp,
}

/// What a step depends on could not be read.
pub(crate) enum Unknown {
    /// It is read again.
    Yet(NotRead),
    /// The step ends without it.
    Without(Box<Decision>),
}

impl From<NotRead> for Unknown {
    fn from(not_read: NotRead) -> Self {
        Self::Yet(not_read)
    }
}

/// Objects of all CRDs, and CRDs whose objects are unknown, with reasons.
#[derive(Default)]
pub(crate) struct Objects<'a> {
    pub(crate) known: Vec<&'a Object>,
    pub(crate) unknown: Vec<(&'a Crd, String)>,
}

/// Effects of a step that are not applied now.
pub(crate) enum Work {
    /// What comes first: an effect, or a wait.
    First(Decision),
    /// None is left, except for those that are never applied, in order.
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

pub(crate) fn done(evidence: impl Into<String>) -> Decision {
    Decision::Done(vec![evidence.into()])
}

pub(crate) fn stop(message: impl Into<String>) -> Decision {
    Decision::resumable(Reason::CheckFailed, message)
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

    /// Returns what was read. A failed read is repeated until the timeout of the step, and then returned as a reason.
    pub(crate) fn settled<T>(&self, read: &'a Read<T>) -> Result<Result<&'a T, String>, NotRead> {
        match read {
            Ok(value) => Ok(Ok(value)),
            Err(Unread::Failed(verb, resource, why)) if !self.expired() => {
                Err(NotRead::Failed(format!("{verb} {resource} ({why})")))
            }
            Err(why) => Ok(Err(why.to_string())),
        }
    }

    /// Returns what was read; the step ends with a decision if that stays unknown.
    pub(crate) fn known<T>(
        &self,
        read: &'a Read<T>,
        without: impl FnOnce(String) -> Decision,
    ) -> Result<&'a T, Unknown> {
        self.settled(read)?.map_err(|why| Unknown::Without(Box::new(without(why))))
    }

    pub(crate) async fn objects(&self) -> Result<Objects<'a>, NotRead> {
        let _ = self.settled(self.cluster.crds().await)?;
        let mut objects = Objects::default();
        for (crd, read) in self.cluster.objects().await {
            match self.settled(read)? {
                Ok(found) => objects.known.extend(found),
                Err(why) => objects.unknown.push((crd, why)),
            }
        }
        Ok(objects)
    }

    /// Returns the first effect that is due, or else the wait for one.
    pub(crate) async fn work(
        &self,
        effects: impl IntoIterator<Item = Effect>,
    ) -> Result<Work, Unknown> {
        let (mut handled, mut soonest) = (false, None::<(Timestamp, String)>);
        let mut never = Vec::new();
        for effect in effects {
            match self.readiness(&effect) {
                Readiness::Act => {
                    let is_check = !matches!(effect, Effect::ScaleDown { .. });
                    let stop = if is_check { self.operator_runs().await? } else { None };
                    return Ok(Work::First(stop.unwrap_or(Decision::Apply(Box::new(effect)))));
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
        let why = result.and_then(|result| effect.why_not(result));
        let refusal = result.and_then(EffectResult::refusal);
        let is_asked_again = self.run.is_before_session(attempt);
        match (policy.decide(Some(attempt), refusal, is_asked_again, self.now), why) {
            (Retry::Now, _) => Readiness::Act,
            (Retry::At(_), Some(why)) if self.expired() => Readiness::Never(why),
            (Retry::At(until), _) => Readiness::Later(until),
            (Retry::Refused | Retry::Exhausted, why) => {
                Readiness::Never(why.unwrap_or_else(|| {
                    format!("no visible effect after {} attempts", attempt.count)
                }))
            }
        }
    }

    /// Returns the stop if a workload of the operator runs or one of its Leases is renewed: a running controller removes its
    /// finalizers itself.
    pub(super) async fn operator_runs(&self) -> Result<Option<Decision>, Unknown> {
        let without =
            |why| stop(format!("cannot determine whether the operator is running: {why}"));
        let workloads = self.known(self.cluster.workloads().await, without)?;
        let running = workloads.iter().filter(|one| one.runs());
        let (planned, other): (Vec<&Workload>, Vec<_>) = running.partition(|one| self.may_run(one));
        if let Some(running) = other.first() {
            let message = format!("the operator is running again ({})", running.target);
            return Ok(Some(stop(message)));
        }
        // The Leases of a planned workload are its own; without one, the operator may run outside the cluster.
        if !planned.is_empty() || self.terms.ignores_operator() {
            return Ok(None);
        }
        // Its workload may have renewed one until its last pod stopped.
        let since = self.run.step_since().checked_add(LEASE_GRACE).unwrap_or(Timestamp::MAX);
        let leases = self.known(self.cluster.leases().await, without)?;
        Ok(leases.iter().find(|lease| lease.renewed > since).map(|lease| {
            stop(format!("the operator is running: Lease {} is being renewed", lease.name))
        }))
    }

    /// Returns true for a workload that the plan scales to zero after its teardown: objects are deleted while it runs.
    fn may_run(&self, workload: &Workload) -> bool {
        self.run.step() == Some(Step::DeleteObjects)
            && workload.is_scalable_by(&self.terms.settings)
            && self.terms.covers(&workload.target)
    }
}
