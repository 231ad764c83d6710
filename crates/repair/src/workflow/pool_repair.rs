//! Types of a repair as a workflow, and the facts of its runs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::approval::{Approval, PlanHash};
use mooring_workflow::plural::counted;
use mooring_workflow::status::{EffectStatus, OverrideStatus, Remaining, Subject};
use mooring_workflow::{Authority, EffectResult, Finish, StepInfo, Workflow};
use serde::{Deserialize, Serialize};

use super::effects::Effect;
use super::plan_document::{HashedPlan, PlanDocument};
use super::step::Step;
use crate::names::temporary_pool;
use crate::observation::is_windows;
use crate::operation::OperationScope;
use crate::settings::Settings;

pub type Entry = mooring_workflow::Entry<PoolRepair>;
pub type Run = mooring_workflow::Run<PoolRepair>;
pub type Runs = mooring_workflow::Runs<PoolRepair>;
pub type Attempt = mooring_workflow::Attempt<Effect>;
pub type Decision = mooring_workflow::Decision<PoolRepair>;

/// Rebuilds a wedged node pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolRepair;

impl Workflow for PoolRepair {
    const SCHEMA: &'static str = "mooring.repair.document/v1";
    const STEPS: &'static [Step] = Step::ALL;

    type Session = Session;
    type Step = Step;
    type Effect = Effect;
    type Facts = Facts;

    fn approval(session: &Session) -> &Approval {
        &session.approval
    }

    /// Under another plan, every step runs again from live state; attempts of effects are kept.
    fn continues(session: &Session, earlier: &Session) -> bool {
        session.plan == earlier.plan
    }

    fn facts(session: &Session) -> Facts {
        Facts {
            plan: session.plan.hash(),
            cordoned: BTreeSet::new(),
            workloads: BTreeMap::new(),
            losses: lost_secrets(&session.plan).collect(),
            more_losses: 0,
            checked: None,
        }
    }

    fn fold(run: &mut Run, entry: &Entry, at: Timestamp) {
        match entry {
            Entry::Resumed(session) | Entry::AbortStarted(session) => {
                if run.facts.plan == session.plan.hash() {
                    return;
                }
                run.facts.plan = session.plan.hash();
                run.facts.workloads.clear();
                // All checks pass when a run starts with a new plan.
                run.facts.checked = first_abort(run).map(|_| at);
                for lost in lost_secrets(&session.plan) {
                    if !run.facts.losses.contains(&lost) {
                        run.facts.losses.push(lost);
                    }
                }
            }
            Entry::Intent(effect) => match &**effect {
                Effect::Cordon { node, .. } => drop(run.facts.cordoned.insert(node.clone())),
                Effect::AbortOperation { judged, .. } => {
                    run.facts.checked = run.facts.checked.or(*judged);
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn deleted(run: &Run) -> Option<Timestamp> {
        deletion(run).map(|attempt| attempt.at)
    }

    fn about(step: Step) -> StepInfo {
        step.about()
    }

    fn point_of_no_return() -> Option<Step> {
        Some(Step::DeletePool)
    }

    fn key(effect: &Effect) -> String {
        effect.key()
    }

    fn authority(effect: &Effect) -> Authority {
        effect.authority()
    }

    fn lasts(effect: &Effect) -> bool {
        effect.lasts()
    }

    fn describe(effect: &Effect, result: Option<&EffectResult>) -> EffectStatus {
        let error = result.and_then(|result| match result {
            EffectResult::Refused { status, code, message, .. } => {
                Some(format!("HTTP {status} {code}: {message}"))
            }
            EffectResult::Unknown { why } => Some(format!("no response ({why})")),
            _ => None,
        });
        EffectStatus { at: None, what: effect.key(), removed: Vec::new(), error }
    }

    fn subject(run: &Run) -> Subject {
        Subject::Pool(run.session.plan.pool.clone())
    }

    fn plan_hash(run: &Run) -> String {
        run.session.plan.token().to_string()
    }

    fn is_past_return(run: &Run) -> bool {
        deletion(run).is_some() || run.has_done(Step::DeletePool)
    }

    fn finished_state(_: &Run, finish: Finish) -> &'static str {
        match finish {
            Finish::Complete | Finish::Partial => "repaired",
            Finish::NothingToDo => "nothing-to-do",
            Finish::Refused => "blocked",
            Finish::Aborted => "aborted",
        }
    }

    fn overrides(run: &Run) -> Vec<OverrideStatus> {
        let overrides = run.session.settings().overrides.into_iter();
        overrides.map(|(check, comment)| OverrideStatus { check, comment }).collect()
    }

    fn remaining(run: &Run) -> Vec<Remaining> {
        if run.is_finished() { run.left.clone() } else { losses(run) }
    }
}

/// Lost items that a run lists.
const MAX_LOSSES: usize = 1_000;

/// Returns the fields that the plan omits.
fn lost_secrets(plan: &PlanDocument) -> impl Iterator<Item = String> {
    let lost = |path: &String| format!("{path} may be a secret and is not saved; set it again");
    plan.stripped.iter().map(lost)
}

/// Input of a process that starts, continues or rolls back a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub plan: HashedPlan,
    /// Overrides of this process, in addition to those of the plan.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, String>,
    pub approval: Approval,
    /// Namespace of the journal.
    pub journal: String,
    /// Deadline of the process.
    pub overall: SignedDuration,
    pub poll: SignedDuration,
}

impl Session {
    pub fn new(
        plan: HashedPlan,
        overrides: BTreeMap<String, String>,
        approval: Approval,
        settings: &Settings,
    ) -> Self {
        let (journal, limits) = (settings.journal.clone(), &settings.limits);
        Self { plan, overrides, approval, journal, overall: limits.overall, poll: limits.poll }
    }

    /// Returns the settings of this process.
    pub fn settings(&self) -> Settings {
        let mut settings = self.plan.settings.clone();
        for (name, reason) in &self.overrides {
            settings.apply_override(name, reason);
        }
        settings.journal.clone_from(&self.journal);
        settings.limits.overall = self.overall;
        settings.limits.poll = self.poll;
        settings
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// `namespace/kind/name`.
    pub name: String,
    pub serving: usize,
}

/// State from the facts of a repair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The plan that the facts are about.
    plan: PlanHash,
    /// Nodes that this run cordoned.
    pub cordoned: BTreeSet<String>,
    /// Ready pods before each drain.
    pub workloads: BTreeMap<Step, BTreeMap<String, Workload>>,
    /// Lost or remaining items, as many as the document of the run has room for.
    pub losses: Vec<String>,
    /// Lost items that are not listed.
    more_losses: usize,
    /// Last evaluation of the checks before an operation was aborted.
    checked: Option<Timestamp>,
}

impl Facts {
    /// Records the Ready pods of each controller before a drain, by its uid, and pods that will be lost.
    pub fn record(
        &mut self,
        step: Step,
        workloads: BTreeMap<String, Workload>,
        losses: Vec<String>,
    ) {
        self.workloads.entry(step).or_insert(workloads);
        let room = MAX_LOSSES.saturating_sub(self.losses.len());
        self.more_losses += losses.len().saturating_sub(room);
        self.losses.extend(losses.into_iter().take(room));
    }
}

/// Returns the name of the temporary pool.
pub fn temporary(run: &Run) -> String {
    let plan = &run.session.plan;
    temporary_pool(&plan.pool, is_windows(&plan.source))
}

/// Returns the last deletion of the pool that the service may have accepted.
pub fn deletion(run: &Run) -> Option<&Attempt> {
    let deletion = run.attempt(&Effect::key_of_deletion(&run.session.plan.pool));
    deletion.filter(|attempt| attempt.may_have_happened())
}

/// Returns the aborts that may have been applied.
pub fn aborts(run: &Run) -> impl Iterator<Item = (&OperationScope, &Attempt)> {
    run.attempts.values().filter_map(|attempt| match &attempt.effect {
        Effect::AbortOperation { scope, .. } if attempt.may_have_happened() => {
            Some((scope, attempt))
        }
        _ => None,
    })
}

/// Returns the time of the first abort of its cluster's or pool's operation.
pub fn first_abort(run: &Run) -> Option<Timestamp> {
    let own = |scope: &OperationScope| match scope {
        OperationScope::Cluster => true,
        OperationScope::Pool(pool) => *pool == run.session.plan.pool,
    };
    aborts(run).filter(|(scope, _)| own(scope)).map(|(_, abort)| abort.first).min()
}

/// Returns the time of the checks right before this run aborted an operation.
pub fn checked_before_abort(run: &Run) -> Option<Timestamp> {
    run.facts.checked.filter(|_| aborts(run).next().is_some())
}

/// Returns the losses to report at the end.
pub fn losses(run: &Run) -> Vec<Remaining> {
    let more = run.facts.more_losses;
    let more = (more > 0)
        .then(|| format!("{} without a controller or with local data", counted(more, "more pod")));
    run.facts.losses.iter().cloned().chain(more).map(Remaining::from).collect()
}

/// Returns the losses of a run that does not end as repaired, including an aborted operation.
pub fn losses_with_abort(run: &Run) -> Vec<Remaining> {
    let mut losses = losses(run);
    if aborts(run).next().is_some() {
        losses.push("the aborted operation cannot be resumed".to_owned().into());
    }
    losses
}
