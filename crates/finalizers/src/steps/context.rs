//! Inputs of a step, and the retry policy of its effects.

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::retry::{Retry, RetryPolicy};
use mooring_workflow::{Effect as _, Reading};

use crate::cluster::observation::{Crd, LiveObject, OperatorWorkload};
use crate::cluster::unreadable::{NOT_SERVED, about, unreadable};
use crate::cluster::view::{OperatorView, Query};
use crate::operator::profile::Profile;
use crate::operator::target::Target;
use crate::plan::terms::Terms;
use crate::removal::effect::{Effect, why_not};
use crate::removal::workflow::{Decision, FinalizerRemoval, Reason, Run};

/// Attempts of an effect before the object is skipped.
const MAX_ATTEMPTS: u32 = 12;
/// Attempts without a pause, since the next list shows the result.
const IMMEDIATE_ATTEMPTS: u32 = 3;
const MAX_PAUSE: SignedDuration = SignedDuration::from_secs(30);

pub(crate) struct Context<'a> {
    pub(crate) terms: &'a Terms,
    pub(crate) run: &'a Run,
    pub(crate) view: &'a OperatorView,
    pub(crate) view_seq: u64,
    pub(crate) now: Timestamp,
}

pub(crate) type Halt = mooring_workflow::Halt<FinalizerRemoval>;
pub(crate) type Unknown = mooring_workflow::Unknown<FinalizerRemoval>;
/// Evidence that a step is done, or the reason why it is not.
pub(crate) type Progress = Result<Vec<String>, Halt>;

pub(crate) fn stop(reason: Reason, message: impl Into<String>) -> Halt {
    Decision::resumable(reason, message).into()
}

/// Objects of all CRDs, and CRDs whose objects are unknown.
pub(crate) struct Objects<'a> {
    pub(crate) known: Vec<&'a LiveObject>,
    /// CRDs whose objects are unknown, with reasons.
    pub(crate) unknown: Vec<(&'a Crd, String)>,
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

impl<'a> Context<'a> {
    pub(super) fn new(cx: &mooring_workflow::Context<'a, FinalizerRemoval>) -> Self {
        let &mooring_workflow::Context { terms, run, view, view_seq, now } = cx;
        Self { terms, run, view, view_seq, now }
    }

    pub(crate) fn profile(&self) -> &'a Profile {
        &self.terms.settings.profile
    }

    pub(crate) fn wait(&self, why: String) -> Halt {
        let poll = self.terms.settings.limits.poll;
        let until = self.now.checked_add(poll).unwrap_or(Timestamp::MAX);
        Decision::Wait { until, why }.into()
    }

    /// Returns true if the timeout of the step has expired.
    pub(crate) fn expired(&self) -> bool {
        self.lasted(self.terms.settings.limits.step())
    }

    pub(crate) fn lasted(&self, limit: SignedDuration) -> bool {
        self.now.duration_since(self.run.step_since()) >= limit
    }

    /// Returns a reading. A failed read is retried until the timeout of the step, and then returned as a reason.
    pub(crate) fn read<T>(
        &self,
        reading: Option<&'a Reading<T>>,
        query: Query,
    ) -> Result<Result<Option<&'a T>, String>, Unknown> {
        match reading {
            None => Err(Unknown::NotRead(query)),
            Some(Reading::Known(value)) => Ok(Ok(Some(value))),
            Some(Reading::NotFound) => Ok(Ok(None)),
            Some(Reading::Failed(why)) if !self.expired() => {
                Err(Unknown::Failed(format!("{} ({why})", about(&query))))
            }
            Some(missing) => Ok(Err(unreadable(&query, missing))),
        }
    }

    /// Returns the CRDs of the profile, or why they are unknown.
    pub(crate) fn crds(&self) -> Result<Result<Vec<&'a Crd>, String>, Unknown> {
        if self.profile().groups.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        let found = self.read(self.view.crds.as_ref(), Query::Crds)?;
        let ours = |all: &'a Vec<Crd>| {
            all.iter().filter(|one| self.profile().has_group(&one.group)).collect()
        };
        Ok(found.map(|all| all.map(ours).unwrap_or_default()))
    }

    pub(crate) fn objects(&self) -> Result<Objects<'a>, Unknown> {
        let mut objects = Objects { known: Vec::new(), unknown: Vec::new() };
        for crd in self.crds()?.unwrap_or_default() {
            if crd.version.is_none() {
                objects.unknown.push((crd, NOT_SERVED.to_owned()));
                continue;
            }
            let query = Query::Objects(Box::new(crd.clone()));
            match self.read(self.view.objects.get(crd.name()), query)? {
                Ok(found) => objects.known.extend(found.into_iter().flatten()),
                Err(why) => objects.unknown.push((crd, why)),
            }
        }
        Ok(objects)
    }

    pub(crate) fn controllers(&self) -> Result<Result<Vec<&'a OperatorWorkload>, String>, Unknown> {
        let found = self.read(self.view.controllers.as_ref(), Query::Controllers)?;
        Ok(found.map(|all| all.into_iter().flatten().collect()))
    }

    /// Applies the first effect that is due. With none left, returns the reasons why the others are never applied, in order.
    pub(crate) fn work(
        &self,
        effects: impl IntoIterator<Item = Effect>,
    ) -> Result<Vec<(Target, String)>, Halt> {
        let (mut handled, mut soonest) = (false, None::<(Timestamp, String)>);
        let mut never = Vec::new();
        for effect in effects {
            match self.readiness(&effect) {
                Readiness::Act => {
                    if !matches!(effect, Effect::ScaleDown { .. }) {
                        self.ensure_operator_stopped()?;
                    }
                    return Err(Decision::Apply(Box::new(effect)).into());
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
        if handled {
            return Err(Decision::Refresh.into());
        }
        match soonest {
            Some((until, why)) => Err(Decision::Wait { until, why }.into()),
            None => Ok(never),
        }
    }

    /// Returns true if the object was changed since the last read.
    pub(crate) fn is_handled(&self, key: &str) -> bool {
        self.run.attempts.get(key).is_some_and(|attempt| attempt.seq > self.view_seq)
    }

    pub(crate) fn is_due(&self, effect: &Effect) -> bool {
        matches!(self.readiness(effect), Readiness::Act)
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
        let why = || attempt.result.as_ref().and_then(|result| why_not(effect, result));
        match policy.decide(Some(attempt), self.run.is_before_session(attempt), self.now) {
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

pub(crate) const NOT_PLANNED: &str =
    "not part of the approved plan because it was created later; plan and apply again";
