//! What a step may know, and what it may do about it.

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::Effect as _;
use mooring_workflow::retry::{Retry, RetryPolicy};

use crate::effect::{Effect, why_not};
use crate::observation::{Controller, Definition, Object};
use crate::profile::Profile;
use crate::target::Target;
use crate::terms::Terms;
use crate::unreadable::{NOT_SERVED, about, unreadable};
use crate::view::{OperatorView, Query};
use crate::workflow::{Decision, FinalizerRemoval, Reason, Run};
use mooring_workflow::Reading;

/// How often one effect is tried before the object is left as it is.
const MAX_ATTEMPTS: u32 = 12;
/// How often it is tried at once, where the next list shows what came of it.
const IMMEDIATE_ATTEMPTS: u32 = 3;
/// The longest pause between two attempts.
const MAX_PAUSE: SignedDuration = SignedDuration::from_secs(30);

/// What a step may know.
pub(crate) struct Context<'a> {
    pub(crate) terms: &'a Terms,
    pub(crate) run: &'a Run,
    pub(crate) view: &'a OperatorView,
    pub(crate) view_seq: u64,
    pub(crate) now: Timestamp,
}

pub(crate) type Halt = mooring_workflow::Halt<FinalizerRemoval>;
pub(crate) type Unknown = mooring_workflow::Unknown<FinalizerRemoval>;
/// A step's progress: how its end was seen, or what keeps it from its end.
pub(crate) type Progress = Result<Vec<String>, Halt>;

/// Stops the run where it can be resumed.
pub(crate) fn stop(reason: Reason, message: impl Into<String>) -> Halt {
    Decision::resumable(reason, message).into()
}

/// The objects of all definitions, and those that cannot be told.
pub(crate) struct Objects<'a> {
    pub(crate) known: Vec<&'a Object>,
    /// A definition, and why its objects are not known.
    pub(crate) unknown: Vec<(&'a Definition, String)>,
}

/// What can be said of an effect that is wanted.
enum Readiness {
    Act,
    /// It was acted upon since the look.
    Handled,
    Later(Timestamp),
    /// It will not come about, and why.
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

    /// Whether the step has waited long enough for what does not depend on us.
    pub(crate) fn expired(&self) -> bool {
        self.lasted(self.terms.settings.limits.step())
    }

    pub(crate) fn lasted(&self, limit: SignedDuration) -> bool {
        self.now.duration_since(self.run.step_since()) >= limit
    }

    /// A reading; one that failed is unknown until the step has lasted long enough. What stays unknown is returned as why.
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

    /// The definitions of the profile; else why they are not known.
    pub(crate) fn definitions(&self) -> Result<Result<Vec<&'a Definition>, String>, Unknown> {
        if self.profile().groups.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        let found = self.read(self.view.definitions.as_ref(), Query::Definitions)?;
        let ours = |all: &'a Vec<Definition>| {
            all.iter().filter(|one| self.profile().has_group(&one.group)).collect()
        };
        Ok(found.map(|all| all.map(ours).unwrap_or_default()))
    }

    /// The objects of the profile's definitions. What is unknown of one hides nothing of the others.
    pub(crate) fn objects(&self) -> Result<Objects<'a>, Unknown> {
        let mut objects = Objects { known: Vec::new(), unknown: Vec::new() };
        for definition in self.definitions()?.unwrap_or_default() {
            if definition.version.is_none() {
                objects.unknown.push((definition, NOT_SERVED.to_owned()));
                continue;
            }
            let query = Query::Objects(Box::new(definition.clone()));
            match self.read(self.view.objects.get(definition.name()), query)? {
                Ok(found) => objects.known.extend(found.into_iter().flatten()),
                Err(why) => objects.unknown.push((definition, why)),
            }
        }
        Ok(objects)
    }

    pub(crate) fn controllers(&self) -> Result<Result<Vec<&'a Controller>, String>, Unknown> {
        let found = self.read(self.view.controllers.as_ref(), Query::Controllers)?;
        Ok(found.map(|all| all.into_iter().flatten().collect()))
    }

    /// Makes the first of these effects that can be made now. With none left to make: why the rest will not come
    /// about, in their order.
    pub(crate) fn work(
        &self,
        effects: impl IntoIterator<Item = Effect>,
    ) -> Result<Vec<(Target, String)>, Halt> {
        let (mut handled, mut soonest) = (false, None::<(Timestamp, String)>);
        let mut never = Vec::new();
        for effect in effects {
            match self.standing(&effect) {
                Readiness::Act => return Err(Decision::Apply(Box::new(effect)).into()),
                Readiness::Handled => handled = true,
                Readiness::Later(until) => {
                    if soonest.as_ref().is_none_or(|(first, _)| until < *first) {
                        soonest = Some((until, format!("before trying again to {}", effect.key())));
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

    /// Whether something was acted upon since the look, so that the look says nothing of it any more.
    pub(crate) fn is_handled(&self, key: &str) -> bool {
        self.run.attempts.get(key).is_some_and(|attempt| attempt.seq > self.view_seq)
    }

    /// Returns true if the effect can be made now.
    pub(crate) fn is_due(&self, effect: &Effect) -> bool {
        matches!(self.standing(effect), Readiness::Act)
    }

    fn standing(&self, effect: &Effect) -> Readiness {
        // The one place where an effect is let through: what was not planned was not approved.
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
            Retry::Refused | Retry::Exhausted => Readiness::Never(why().unwrap_or_else(|| {
                format!("tried {} times without a visible effect", attempt.count)
            })),
        }
    }
}

/// Why an object that was found later is left.
pub(crate) const NOT_PLANNED: &str =
    "it is not part of the approved plan, since it appeared later; plan and apply again";
