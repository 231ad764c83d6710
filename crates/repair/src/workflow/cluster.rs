//! The cluster of a run: its reads, each made once for a decision, and the retry policy of its effects.

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::plural::counted;
use mooring_workflow::reading::once;
use mooring_workflow::retry::{Retry, RetryPolicy};
use mooring_workflow::{EffectResult, Finish, NotRead, Phase, Reading, Reason, Stop, WaitLimits};
use serde_json::Value;

use super::effects::{Effect, explain_refusal};
use super::plan_document::PlanDocument;
use super::pool_repair::{
    Attempt, Decision, PoolRepair, Run, deletion, first_abort, losses_with_abort, temporary,
};
use super::step::Step;
use crate::names::IP_ADDRESSES;
use crate::names::{
    APPROVAL_TAG, JOURNAL_TAG, PURPOSE, PURPOSE_TAG, RUN_TAG, SOURCE_TAG, approval_tag,
    approved_plan, pointer,
};
use crate::observation::{
    ActivityEvent, AksOperation, ClusterView, Instance, ManagedCluster, Nic, Node, Pdb, Pod, Pool,
    Replicas, ScaleSet,
};
use crate::settings::Settings;

const MAX_ATTEMPTS: u32 = 25;
const MAX_PAUSE: SignedDuration = SignedDuration::from_secs(60);

/// Azure and Kubernetes, or a model of them. A failed read is a reading as well.
#[expect(async_fn_in_trait, reason = "one task drives a run; nothing goes to another thread")]
pub trait Services {
    fn now(&self) -> Timestamp;
    async fn cluster(&self) -> Reading<ManagedCluster>;
    async fn pools(&self) -> Reading<Vec<Pool>>;
    async fn scale_sets(&self) -> Reading<Vec<ScaleSet>>;
    async fn instances(&self, set: &str) -> Reading<Vec<Instance>>;
    async fn nics(&self, set: &str) -> Reading<Vec<Nic>>;
    async fn events(&self) -> Reading<Vec<ActivityEvent>>;
    async fn latest_operation(&self) -> Reading<Option<AksOperation>>;
    async fn operation(&self, token: &str) -> Reading<Vec<String>>;
    async fn uid(&self) -> Reading<String>;
    async fn nodes(&self) -> Reading<Vec<Node>>;
    async fn pods(&self) -> Reading<Vec<Pod>>;
    async fn pdbs(&self) -> Reading<Vec<Pdb>>;
    async fn replicas(&self, workload: &str) -> Reading<Replicas>;
    async fn perform(&self, effect: &Effect) -> EffectResult;
}

/// The services of a run, with its settings and what was read for the current decision.
pub struct PoolCluster<S> {
    pub services: S,
    pub settings: Settings,
    pub view: ClusterView,
    /// The view is that of an earlier decision.
    is_used: bool,
}

impl<S> PoolCluster<S> {
    pub fn new(services: S, settings: Settings) -> Self {
        Self { services, settings, view: ClusterView::default(), is_used: false }
    }
}

impl<S: Services> mooring_workflow::Cluster<PoolRepair> for PoolCluster<S> {
    async fn next(&mut self, run: &Run) -> Result<Decision, NotRead> {
        if std::mem::replace(&mut self.is_used, true) {
            self.view = ClusterView::default();
        }
        let Self { services, settings, view, .. } = self;
        let now = services.now();
        Context { run, settings, view, services, now }.decide().await
    }

    async fn perform(&mut self, effect: &Effect) -> EffectResult {
        self.services.perform(effect).await
    }

    fn limits(&self, step: Option<Step>) -> WaitLimits {
        let limits = &self.settings.limits;
        let of_step = match step {
            Some(
                Step::ClearOperation | Step::Recheck | Step::VerifyPool | Step::ReconcileCluster,
            ) => limits.settle,
            Some(Step::DrainPool | Step::DrainTemporary) => limits.drain,
            Some(Step::VerifyWorkloads) => limits.placement,
            _ => limits.pool,
        };
        WaitLimits { session: limits.overall, step: Some(of_step), poll: limits.poll }
    }
}

/// The inputs of a decision.
pub(crate) struct Context<'a, S> {
    pub(crate) run: &'a Run,
    pub(crate) settings: &'a Settings,
    pub(crate) view: &'a ClusterView,
    pub(crate) services: &'a S,
    /// The start of the decision.
    pub(crate) now: Timestamp,
}

fn value<'a, T>(reading: &'a Reading<T>, about: &str) -> Result<&'a T, NotRead> {
    match reading {
        Reading::Known(value) => Ok(value),
        Reading::Denied(code) => {
            Err(NotRead::Denied(Reason::NotPermitted, format!("{about}: access denied ({code})")))
        }
        other => {
            let why = other.missing().unwrap_or_default();
            Err(NotRead::Failed(format!("while {about} fails: {why}")))
        }
    }
}

impl<'a, S: Services> Context<'a, S> {
    pub(crate) async fn cluster(&self) -> Result<&'a ManagedCluster, NotRead> {
        value(once(&self.view.cluster, self.services.cluster()).await, "reading the cluster")
    }

    pub(crate) async fn pools(&self) -> Result<&'a [Pool], NotRead> {
        let pools = once(&self.view.pools, self.services.pools()).await;
        value(pools, "reading the pools").map(Vec::as_slice)
    }

    pub(crate) async fn pool(&self, name: &str) -> Result<Option<&'a Pool>, NotRead> {
        Ok(self.pools().await?.iter().find(|pool| pool.name == name))
    }

    pub(crate) async fn nodes_of(&self, pool: &str) -> Result<Vec<&'a Node>, NotRead> {
        let nodes = once(&self.view.nodes, self.services.nodes()).await;
        let nodes = value(nodes, "reading the nodes")?;
        Ok(nodes.iter().filter(|node| node.pool.as_deref() == Some(pool)).collect())
    }

    pub(crate) async fn pods(&self) -> Result<&'a [Pod], NotRead> {
        let pods = once(&self.view.pods, self.services.pods()).await;
        value(pods, "reading the pods").map(Vec::as_slice)
    }

    pub(crate) async fn pdbs(&self) -> Result<&'a [Pdb], NotRead> {
        let pdbs = once(&self.view.pdbs, self.services.pdbs()).await;
        value(pdbs, "reading PodDisruptionBudgets").map(Vec::as_slice)
    }

    pub(crate) async fn events(&self) -> Result<&'a [ActivityEvent], NotRead> {
        let events = once(&self.view.events, self.services.events()).await;
        value(events, "reading the activity log").map(Vec::as_slice)
    }

    pub(crate) async fn scale_set(&self, pool: &str) -> Result<Option<&'a ScaleSet>, NotRead> {
        let sets = once(&self.view.scale_sets, self.services.scale_sets()).await;
        value(sets, "reading the scale sets")?;
        Ok(self.view.scale_set_of(pool))
    }

    /// Returns none if access is denied and `ip-addresses` is overridden.
    pub(crate) async fn nics(&self, set: &ScaleSet) -> Result<Option<&'a [Nic]>, NotRead> {
        let reading = self.view.nics.once(&set.name, self.services.nics(&set.name)).await;
        let is_overridden = self.settings.overrides.contains_key(IP_ADDRESSES);
        if matches!(reading, Reading::Denied(_)) && is_overridden {
            return Ok(None);
        }
        value(reading, "reading the network interfaces").map(|nics| Some(nics.as_slice()))
    }

    /// Returns the error codes of an operation that this run started.
    pub(crate) async fn operation(&self, token: &str) -> &'a Reading<Vec<String>> {
        self.view.operations.once(token, self.services.operation(token)).await
    }

    pub(crate) async fn replicas(&self, workload: &str) -> &'a Reading<Replicas> {
        self.view.replicas.once(workload, self.services.replicas(workload)).await
    }

    pub(crate) fn plan(&self) -> &'a PlanDocument {
        &self.run.session.plan
    }

    /// Returns the name of the pool.
    pub(crate) fn name(&self) -> &'a str {
        &self.run.session.plan.pool
    }

    pub(crate) fn temporary(&self) -> String {
        temporary(self.run)
    }

    /// Returns true once the pool is verified.
    pub(crate) fn is_rebuilt(&self) -> bool {
        self.run.step().is_none_or(|step| step > Step::VerifyPool)
    }

    /// Returns the last deletion of the pool that the service may have accepted.
    pub(crate) fn deletion(&self) -> Option<&'a Attempt> {
        deletion(self.run)
    }

    pub(crate) fn has_override(&self, check: &str) -> bool {
        self.settings.overrides.contains_key(check)
    }

    /// Returns true if the pool is on another scale set than in the plan.
    pub(crate) async fn on_another_set(&self) -> Result<bool, NotRead> {
        let set = self.scale_set(self.name()).await?;
        Ok(set.is_some_and(|set| !self.plan().is_on(&set.id)))
    }

    /// Returns true if the pool is on the scale set of the plan: it was not recreated.
    pub(crate) async fn on_planned_set(&self) -> Result<bool, NotRead> {
        let set = self.scale_set(self.name()).await?;
        Ok(set.is_some_and(|set| self.plan().is_on(&set.id)))
    }

    pub(crate) fn wait(&self, why: impl Into<String>) -> Decision {
        let poll = self.settings.limits.poll;
        let until = self.services.now().checked_add(poll).unwrap_or(Timestamp::MAX);
        Decision::Wait { until, why: why.into() }
    }

    /// Ends the run before a change that requires continuation. Only a forged document has a temporary pool by then: such a
    /// run stops, and can be rolled back.
    pub(crate) fn finish(&self, finish: Finish, reason: Reason, message: String) -> Decision {
        let created = self.run.attempt(&Effect::key_of_put(&self.temporary()));
        if created.is_some_and(Attempt::may_have_happened) {
            return Decision::resumable(reason, message);
        }
        let mut left = losses_with_abort(self.run);
        left.push(message.clone().into());
        Decision::Stop(Stop { reason, message, end: Some((finish, left)) })
    }

    pub(crate) fn refused(&self, reason: Reason, message: String) -> Decision {
        self.finish(Finish::Refused, reason, message)
    }

    /// Applies an effect, unless rejected permanently or waiting for a retry.
    pub(crate) fn effect(&self, effect: Effect) -> Decision {
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
        let result = attempt.and_then(|attempt| attempt.result.as_ref());
        let refusal = result.and_then(Effect::refusal);
        match policy.decide(attempt, refusal, requested_again, self.now) {
            Retry::Now => Decision::Apply(Box::new(effect)),
            Retry::At(until) => Decision::Wait { until, why: format!("before retrying: {key}") },
            Retry::Refused => {
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
        tags[JOURNAL_TAG] = pointer(&self.settings.journal, self.name()).into();
        tags[APPROVAL_TAG] = approval_tag(&self.run.session.plan.hash()).into();
        body
    }

    /// Returns the settings of the verdict; an abort by this run is not evidence against the wedge.
    pub(crate) fn settings_of_verdict(&self) -> Settings {
        let settings = self.settings.clone();
        match first_abort(self.run) {
            Some(first) => settings.after_abort(first, self.now),
            None => settings,
        }
    }

    pub(crate) fn is_rolling_back(&self) -> bool {
        self.run.phase == Phase::Aborting
    }
}
