//! Questions of a step, each of which ends in an answer or in what must be done first.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::action::{Action, Reason};
use super::state::State;
use crate::counted::counted;
use crate::effects::{Effect, EffectResult, Refusal};
use crate::names::{
    APPROVAL_TAG, JOURNAL_TAG, PURPOSE, PURPOSE_TAG, RUN_TAG, SOURCE_TAG, approval_tag,
    approved_plan,
};
use crate::observation::{
    ActivityEvent, Cluster, Nic, Node, Pdb, Pod, Pool, Query, Reading, ScaleSet, Seen,
};
use crate::plan::{Document, Step};

/// How often one effect is tried before a person is asked.
const MOST_ATTEMPTS: u32 = 25;
/// The longest pause between two attempts.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_secs(60);

/// What a step may know.
pub(crate) struct Context<'a> {
    pub(crate) state: &'a State,
    pub(crate) seen: &'a Seen,
    pub(crate) now: Timestamp,
}

/// A step's progress: the proof that it is done, or what to do next.
pub(crate) type Progress = Result<Vec<String>, Action>;

impl<'a> Context<'a> {
    /// Unwraps a reading: asks for it if it was not read, and waits if it could not be.
    fn answer<T>(&self, reading: Option<&'a Reading<T>>, query: Query) -> Result<&'a T, Action> {
        match reading {
            None => Err(Action::Observe(query)),
            Some(Reading::Known(value)) => Ok(value),
            Some(Reading::Denied(code)) => Err(Action::resumable(
                Reason::NotPermitted,
                format!("{} is not permitted ({code})", about(&query)),
            )),
            Some(other) => {
                let why = other.missing().unwrap_or_default();
                Err(self.wait(format!("while {} does not succeed: {why}", about(&query))))
            }
        }
    }

    pub(crate) fn cluster(&self) -> Result<&'a Cluster, Action> {
        self.answer(self.seen.cluster.as_ref(), Query::Cluster)
    }

    pub(crate) fn pools(&self) -> Result<&'a Vec<Pool>, Action> {
        self.answer(self.seen.pools.as_ref(), Query::Pools)
    }

    pub(crate) fn pool(&self, name: &str) -> Result<Option<&'a Pool>, Action> {
        Ok(self.pools()?.iter().find(|pool| pool.name == name))
    }

    pub(crate) fn nodes_of(&self, pool: &str) -> Result<Vec<&'a Node>, Action> {
        let nodes = self.answer(self.seen.nodes.as_ref(), Query::Nodes)?;
        Ok(nodes.iter().filter(|node| node.pool.as_deref() == Some(pool)).collect())
    }

    pub(crate) fn pods(&self) -> Result<&'a Vec<Pod>, Action> {
        self.answer(self.seen.pods.as_ref(), Query::Pods)
    }

    pub(crate) fn pdbs(&self) -> Result<&'a Vec<Pdb>, Action> {
        self.answer(self.seen.pdbs.as_ref(), Query::Pdbs)
    }

    pub(crate) fn events(&self) -> Result<&'a Vec<ActivityEvent>, Action> {
        self.answer(self.seen.events.as_ref(), Query::Events)
    }

    /// The scale set that backs a pool now.
    pub(crate) fn scale_set(&self, pool: &str) -> Result<Option<&'a ScaleSet>, Action> {
        self.answer(self.seen.scale_sets.as_ref(), Query::ScaleSets)?;
        Ok(self.seen.scale_set_of(pool))
    }

    /// Has the instances and interfaces of the pool's scale set read, whatever comes of it.
    pub(crate) fn direct_evidence(&self) -> Result<(), Action> {
        let Some(set) = self.scale_set(self.state.pool())? else { return Ok(()) };
        for (read, query) in [
            (self.seen.instances.contains_key(&set.name), Query::Instances(set.name.clone())),
            (self.seen.nics.contains_key(&set.name), Query::Nics(set.name.clone())),
        ] {
            if !read {
                return Err(Action::Observe(query));
            }
        }
        Ok(())
    }

    /// The interfaces of a scale set; none if they may not be read and an operator accepts that.
    pub(crate) fn nics(&self, set: &ScaleSet) -> Result<Option<&'a Vec<Nic>>, Action> {
        let reading = self.seen.nics.get(&set.name);
        if matches!(reading, Some(Reading::Denied(_)))
            && self.state.settings.overrides.contains_key("addresses")
        {
            return Ok(None);
        }
        self.answer(reading, Query::Nics(set.name.clone())).map(Some)
    }

    /// The plan in force, with the pool as it was.
    pub(crate) fn plan(&self) -> &'a Document {
        &self.state.plan
    }

    /// True if the pool is on another scale set than in the plan.
    pub(crate) fn on_another_set(&self) -> Result<bool, Action> {
        let set = self.scale_set(self.state.pool())?;
        Ok(set.is_some_and(|set| !self.plan().is_on(&set.id)))
    }

    /// True if the pool is on the scale set of the plan: it was not recreated.
    pub(crate) fn on_planned_set(&self) -> Result<bool, Action> {
        let set = self.scale_set(self.state.pool())?;
        Ok(set.is_some_and(|set| self.plan().is_on(&set.id)))
    }

    /// Look again soon.
    pub(crate) fn wait(&self, why: String) -> Action {
        Action::Wait { until: self.after(self.state.settings.limits.poll), why }
    }

    fn after(&self, pause: SignedDuration) -> Timestamp {
        self.now.checked_add(pause).unwrap_or(Timestamp::MAX)
    }

    /// Makes an effect, unless it was refused for good, too often, or too short a time ago.
    pub(crate) fn effect(&self, step: Step, effect: Effect) -> Action {
        let Some(attempt) = self.state.attempt(&effect.key()) else {
            return Action::Effect { step, effect };
        };
        // A person who resumes a run asks for another try.
        let asked_again = attempt.earlier;
        if let Some(EffectResult::Refused { code, message, .. }) = &attempt.result
            && !asked_again
            && attempt.result.as_ref().and_then(EffectResult::refusal) == Some(Refusal::Final)
        {
            let explanation = attempt.result.as_ref().and_then(EffectResult::explanation);
            let why = explanation.unwrap_or_else(|| format!("{code}: {message}"));
            let message = format!("{} was refused: {why}", effect.key());
            return Action::resumable(Reason::EffectRefused, message);
        }
        if attempt.count >= MOST_ATTEMPTS && !asked_again {
            let message = format!(
                "{} did not succeed in {}",
                effect.key(),
                counted(attempt.count, "attempt")
            );
            return Action::resumable(Reason::TooManyAttempts, message);
        }
        let ready = attempt.at.checked_add(self.pause(attempt.count, attempt.result.as_ref()));
        match ready {
            // An attempt in the future was made by a clock that was ahead.
            Ok(ready) if ready > self.now && attempt.at <= self.now => Action::Wait {
                until: ready,
                why: format!("before trying again to {}", effect.key()),
            },
            _ => Action::Effect { step, effect },
        }
    }

    /// How long to wait after an attempt: what the service says, else doubling from the poll interval.
    fn pause(&self, count: u32, result: Option<&EffectResult>) -> SignedDuration {
        match result {
            // No sooner than it is looked anyway, or all attempts would be over in a moment.
            Some(EffectResult::Refused { retry_after: Some(pause), .. }) => {
                (*pause).max(self.state.settings.limits.poll)
            }
            // Nobody lived to see it, or the answer was lost: looking has told that it did not happen.
            None => SignedDuration::ZERO,
            Some(_) => {
                let poll = self.state.settings.limits.poll;
                let doubled = poll.checked_mul(1 << count.min(5)).unwrap_or(LONGEST_PAUSE);
                doubled.min(LONGEST_PAUSE)
            }
        }
    }

    /// True if the pool is the temporary one of this run: its tags name the run and the plan.
    pub(crate) fn is_ours(&self, pool: &Pool) -> bool {
        let tag = |name| pool.tag(name);
        let source = tag(SOURCE_TAG);
        tag(PURPOSE_TAG).as_deref() == Some(PURPOSE)
            && tag(RUN_TAG).as_deref() == Some(self.state.run.as_str())
            && tag(APPROVAL_TAG).as_deref().and_then(approved_plan).as_ref()
                == Some(&self.state.plan_hash)
            && source.is_some_and(|id| id.eq_ignore_ascii_case(self.plan().source_id()))
    }

    /// True if the pool is the temporary one of the finished run that the plan names.
    pub(crate) fn is_adopted(&self, pool: &Pool) -> bool {
        let run = pool.tag(RUN_TAG);
        pool.tag(PURPOSE_TAG).as_deref() == Some(PURPOSE)
            && run.is_some()
            && run == self.plan().adopts
    }

    /// The body of the temporary pool with the tags that point back at run, journal and plan.
    pub(crate) fn temporary_body(&self) -> Value {
        let mut body = self.plan().temporary_body.clone();
        let tags = &mut body["properties"]["tags"];
        tags[RUN_TAG] = self.state.run.as_str().into();
        tags[JOURNAL_TAG] = self.state.settings.journal.pointer(self.state.pool()).into();
        tags[APPROVAL_TAG] = approval_tag(&self.state.plan_hash).into();
        body
    }
}

fn about(query: &Query) -> &'static str {
    match query {
        Query::Cluster => "reading the cluster",
        Query::Pools => "reading the pools",
        Query::ScaleSets => "reading the scale sets",
        Query::Instances(_) => "reading the instances",
        Query::Nics(_) => "reading the network interfaces",
        Query::Events => "reading the activity log",
        Query::LatestOperation | Query::Operation(_) => "reading the operation",
        Query::Nodes => "reading the nodes",
        Query::Pods => "reading the pods",
        Query::Pdbs => "reading the disruption budgets",
        Query::Replicas(_) => "reading a workload",
    }
}
