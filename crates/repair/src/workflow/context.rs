//! Inputs of a step and of the checks of its effects, and the retry policy of its effects.

use super::effects::{Effect, explain_refusal};
use super::plan_document::PlanDocument;
use super::pool_repair::{Attempt, Decision, Finish, PoolRepair, Reason, RepairRun as _, Run};
use crate::check_ids::IP_ADDRESSES;
use crate::settings::Settings;
use jiff::{SignedDuration, Timestamp};
use mooring_workflow::retry::{Retry, RetryPolicy};
use mooring_workflow::workflow::View as _;
use mooring_workflow::{Effect as _, Reading};
use serde_json::Value;

use crate::names::{
    APPROVAL_TAG, JOURNAL_TAG, PURPOSE, PURPOSE_TAG, RUN_TAG, SOURCE_TAG, approval_tag,
    approved_plan, pointer,
};
use crate::observation::{
    ActivityEvent, ClusterView, ManagedCluster, Nic, Node, Pdb, Pod, Pool, Query, ScaleSet,
};
use mooring_workflow::plural::counted;

const MAX_ATTEMPTS: u32 = 25;
const MAX_PAUSE: SignedDuration = SignedDuration::from_secs(60);

pub(crate) struct Context<'a> {
    pub(crate) run: &'a Run,
    pub(crate) settings: &'a Settings,
    pub(crate) view: &'a ClusterView,
    pub(crate) now: Timestamp,
}

pub(crate) type Halt = mooring_workflow::Halt<PoolRepair>;
pub(crate) type Unknown = mooring_workflow::Unknown<PoolRepair>;
/// Evidence that a step is done, or the reason why it is not.
pub(crate) type Progress = Result<Vec<String>, Halt>;

fn value<T>(reading: Option<&Reading<T>>, query: Query) -> Result<&T, Unknown> {
    Err(match reading {
        Some(Reading::Known(value)) => return Ok(value),
        None => Unknown::NotRead(query),
        Some(Reading::Denied(code)) => {
            let message = format!("{}: access denied ({code})", about(&query));
            Unknown::Denied(Reason::NotPermitted, message)
        }
        Some(other) => {
            let why = other.missing().unwrap_or_default();
            Unknown::Failed(format!("while {} fails: {why}", about(&query)))
        }
    })
}

pub(crate) fn resumable(reason: Reason, message: impl Into<String>) -> Halt {
    Decision::resumable(reason, message).into()
}

impl<'a> Context<'a> {
    pub(crate) fn new(cx: &mooring_workflow::Context<'a, PoolRepair>) -> Self {
        Self { run: cx.run, settings: cx.terms, view: cx.view, now: cx.now }
    }

    pub(crate) fn has_all(&self, queries: &[Query]) -> bool {
        queries.iter().all(|query| self.view.has(query))
    }

    /// Ensures that these queries were made.
    pub(crate) fn ensure_read(&self, queries: Vec<Query>) -> Result<(), Unknown> {
        let unread = queries.into_iter().find(|query| !self.view.has(query));
        unread.map_or(Ok(()), |query| Err(Unknown::NotRead(query)))
    }

    pub(crate) fn cluster(&self) -> Result<&'a ManagedCluster, Unknown> {
        value(self.view.cluster.as_ref(), Query::Cluster)
    }

    pub(crate) fn pools(&self) -> Result<&'a Vec<Pool>, Unknown> {
        value(self.view.pools.as_ref(), Query::Pools)
    }

    pub(crate) fn pool(&self, name: &str) -> Result<Option<&'a Pool>, Unknown> {
        Ok(self.pools()?.iter().find(|pool| pool.name == name))
    }

    pub(crate) fn nodes_of(&self, pool: &str) -> Result<Vec<&'a Node>, Unknown> {
        let nodes = value(self.view.nodes.as_ref(), Query::Nodes)?;
        Ok(nodes.iter().filter(|node| node.pool.as_deref() == Some(pool)).collect())
    }

    pub(crate) fn pods(&self) -> Result<&'a Vec<Pod>, Unknown> {
        value(self.view.pods.as_ref(), Query::Pods)
    }

    pub(crate) fn pdbs(&self) -> Result<&'a Vec<Pdb>, Unknown> {
        value(self.view.pdbs.as_ref(), Query::Pdbs)
    }

    pub(crate) fn events(&self) -> Result<&'a Vec<ActivityEvent>, Unknown> {
        value(self.view.events.as_ref(), Query::Events)
    }

    pub(crate) fn scale_set(&self, pool: &str) -> Result<Option<&'a ScaleSet>, Unknown> {
        value(self.view.scale_sets.as_ref(), Query::ScaleSets)?;
        Ok(self.view.scale_set_of(pool))
    }

    /// Returns none if access is denied and `ip-addresses` is overridden.
    pub(crate) fn nics(&self, set: &ScaleSet) -> Result<Option<&'a Vec<Nic>>, Unknown> {
        let reading = self.view.nics.get(&set.name);
        if matches!(reading, Some(Reading::Denied(_)))
            && self.settings.overrides.contains_key(IP_ADDRESSES)
        {
            return Ok(None);
        }
        value(reading, Query::Nics(set.name.clone())).map(Some)
    }

    pub(crate) fn plan(&self) -> &'a PlanDocument {
        &self.run.session.plan
    }

    /// Returns true if the pool is on another scale set than in the plan.
    pub(crate) fn on_another_set(&self) -> Result<bool, Unknown> {
        let set = self.scale_set(self.run.pool())?;
        Ok(set.is_some_and(|set| !self.plan().is_on(&set.id)))
    }

    /// Returns true if the pool is on the scale set of the plan: it was not recreated.
    pub(crate) fn on_planned_set(&self) -> Result<bool, Unknown> {
        let set = self.scale_set(self.run.pool())?;
        Ok(set.is_some_and(|set| self.plan().is_on(&set.id)))
    }

    pub(crate) fn wait(&self, why: String) -> Halt {
        let poll = self.settings.limits.poll;
        let until = self.now.checked_add(poll).unwrap_or(Timestamp::MAX);
        Decision::Wait { until, why }.into()
    }

    /// Ends the run before a change that requires continuation. Only a forged document has a temporary pool by then: such a
    /// run stops, and can be rolled back.
    pub(crate) fn finish(&self, finish: Finish, reason: Reason, message: String) -> Halt {
        let created = self.run.attempt(&Effect::key_of_put(&self.run.temporary()));
        if created.is_some_and(Attempt::may_have_happened) {
            return resumable(reason, message);
        }
        let mut left = self.run.losses_with_abort();
        left.push(message.clone());
        Decision::finished(finish, left, reason, message).into()
    }

    pub(crate) fn refused(&self, reason: Reason, message: String) -> Halt {
        self.finish(Finish::Refused, reason, message)
    }

    /// Applies an effect, unless rejected permanently or waiting for a retry.
    pub(crate) fn effect(&self, effect: Effect) -> Halt {
        let key = effect.key();
        let attempt = self.run.attempt(&key);
        // `resume` requests another attempt.
        let requested_again = attempt.is_some_and(|attempt| self.run.is_before_step(attempt));
        let policy = RetryPolicy {
            max_attempts: MAX_ATTEMPTS,
            max_pause: MAX_PAUSE,
            poll: self.settings.limits.poll,
            immediate: 0,
        };
        match policy.decide(attempt, requested_again, self.now) {
            Retry::Now => Decision::Apply(Box::new(effect)),
            Retry::At(until) => Decision::Wait { until, why: format!("before retrying: {key}") },
            Retry::Refused => {
                let result = attempt.and_then(|attempt| attempt.result.as_ref());
                let why = result.and_then(explain_refusal).unwrap_or_default();
                let message = format!("{key} was rejected: {why}");
                Decision::resumable(Reason::EffectRefused, message)
            }
            Retry::Exhausted => {
                let count = counted(attempt.map_or(0, |attempt| attempt.count), "attempt");
                let message = format!("{key} failed after {count}");
                Decision::resumable(Reason::TooManyAttempts, message)
            }
        }
        .into()
    }

    /// Returns true if the tags of the pool name this run and plan.
    pub(crate) fn belongs_to_run(&self, pool: &Pool) -> bool {
        let tag = |name| pool.tag(name);
        let source = tag(SOURCE_TAG);
        tag(PURPOSE_TAG).as_deref() == Some(PURPOSE)
            && tag(RUN_TAG).as_deref() == Some(self.run.id.as_str())
            && tag(APPROVAL_TAG).as_deref().and_then(approved_plan).as_ref()
                == Some(&self.run.session.plan.hash())
            && source.is_some_and(|id| id.eq_ignore_ascii_case(self.plan().source_id()))
    }

    /// Returns true if the pool is that of the finished run that the plan names.
    pub(crate) fn is_adopted(&self, pool: &Pool) -> bool {
        let run = pool.tag(RUN_TAG);
        pool.tag(PURPOSE_TAG).as_deref() == Some(PURPOSE)
            && run.is_some()
            && run == self.plan().adopts
    }

    /// Returns the body of the temporary pool with the tags of run, journal and plan.
    pub(crate) fn temporary_body(&self) -> Value {
        let mut body = self.plan().temporary_body.clone();
        let tags = &mut body["properties"]["tags"];
        tags[RUN_TAG] = self.run.id.as_str().into();
        tags[JOURNAL_TAG] = pointer(&self.settings.journal, self.run.pool()).into();
        tags[APPROVAL_TAG] = approval_tag(&self.run.session.plan.hash()).into();
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
        Query::Uid => "reading the uid of kube-system",
        Query::Nodes => "reading the nodes",
        Query::Pods => "reading the pods",
        Query::Pdbs => "reading PodDisruptionBudgets",
        Query::Replicas(_) => "reading a workload",
    }
}
