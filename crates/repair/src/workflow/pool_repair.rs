//! Types of a repair as a workflow, and the facts of its runs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::Types;
use mooring_workflow::approval::{Approval, PlanHash};
use mooring_workflow::lock::LockOwner;
use mooring_workflow::plural::counted;
use serde::{Deserialize, Serialize};

use super::effects::Effect;
use super::plan_document::{HashedPlan, PlanDocument};
use super::step::Step;
use crate::names::temporary_pool;
use crate::observation::{Query, is_windows};
use crate::operation::OperationScope;
use crate::settings::Settings;

pub type Entry = mooring_workflow::Entry<PoolRepair>;
pub type Record = mooring_workflow::Record<PoolRepair>;
pub type Run = mooring_workflow::Run<PoolRepair>;
pub type Runs = mooring_workflow::Runs<PoolRepair>;
pub type Attempt = mooring_workflow::Attempt<Effect>;
pub type RunOutcome = mooring_workflow::RunOutcome<PoolRepair>;
pub type Decision = mooring_workflow::Decision<PoolRepair>;

/// Rebuilds a wedged node pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolRepair;

impl Types for PoolRepair {
    const SCHEMA: &'static str = "mooring.repair.document/v1";

    type Session = Session;
    type Step = Step;
    type Effect = Effect;
    type Fact = Fact;
    type Facts = Facts;
    type Finish = Finish;
    type Leftover = String;
    type Reason = Reason;
    type Query = Query;

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
                run.facts.checked = run.first_abort().map(|_| at);
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
            Entry::Fact(Fact::Workloads { step, workloads, losses }) => {
                run.facts.workloads.entry(*step).or_insert_with(|| workloads.clone());
                let room = MAX_LOSSES.saturating_sub(run.facts.losses.len());
                run.facts.losses.extend(losses.iter().take(room).cloned());
                run.facts.more_losses += losses.len().saturating_sub(room);
            }
            _ => {}
        }
    }

    fn deleted(run: &Run) -> Option<Timestamp> {
        run.deletion().map(|attempt| attempt.at)
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
    pub owner: LockOwner,
    /// Namespace of the journal.
    pub journal: String,
    /// Deadline of the process.
    pub overall: SignedDuration,
    pub poll: SignedDuration,
}

impl Session {
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

impl mooring_workflow::Session for Session {
    fn approval(&self) -> &Approval {
        &self.approval
    }

    /// Under another plan, every step runs again from live state; attempts of effects are kept.
    fn continues(&self, earlier: &Self) -> bool {
        self.plan == earlier.plan
    }
}

/// Facts in addition to steps and effects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Fact {
    /// Ready pods of each controller before a drain.
    Workloads {
        step: Step,
        /// Keys are uids of controllers.
        workloads: BTreeMap<String, Workload>,
        /// Pods without a controller, and pods with local data.
        losses: Vec<String>,
    },
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// The pool was rebuilt and verified.
    Repaired,
    NothingToDo,
    Refused,
    /// Rolled back as far as possible.
    Aborted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    Deadline,
    Interrupted,
    StepTimeout,
    PoolChanged,
    PoolGone,
    #[serde(rename = "GuardRefused")]
    CheckFailed,
    YoungOperation,
    UnidentifiedOperation,
    NameTaken,
    EffectRefused,
    TooManyAttempts,
    BudgetBlocks,
    NotPermitted,
    NotUndoable,
    NotApproved,
}

impl mooring_workflow::types::Reason for Reason {
    const DEADLINE: Self = Self::Deadline;
    const INTERRUPTED: Self = Self::Interrupted;
    const STEP_TIMEOUT: Self = Self::StepTimeout;
    const NOT_APPROVED: Self = Self::NotApproved;

    fn ends_rollback(self) -> bool {
        self == Self::NotUndoable
    }
}

pub trait RepairRun {
    fn pool(&self) -> &str;
    fn temporary(&self) -> String;
    /// Returns true once the pool is verified.
    fn is_rebuilt(&self) -> bool;
    /// Returns the pool that receives the pods: the temporary one until the pool is rebuilt.
    fn replacement(&self) -> String;
    /// Returns the last deletion of the pool that the service may have accepted.
    fn deletion(&self) -> Option<&Attempt>;
    /// Returns the aborts that may have been applied.
    fn aborts(&self) -> impl Iterator<Item = (&OperationScope, &Attempt)>;
    /// Returns the time of the first abort of its cluster's or pool's operation.
    fn first_abort(&self) -> Option<Timestamp>;
    /// Returns the time of the checks right before this run aborted an operation.
    fn checked_before_abort(&self) -> Option<Timestamp>;
    /// Returns the losses to report at the end.
    fn losses(&self) -> Vec<String>;
    /// Returns the losses of a run that does not end as repaired, including an aborted operation.
    fn losses_with_abort(&self) -> Vec<String>;
}

impl RepairRun for Run {
    fn pool(&self) -> &str {
        &self.session.plan.pool
    }

    fn temporary(&self) -> String {
        temporary_pool(self.pool(), is_windows(&self.session.plan.source))
    }

    fn is_rebuilt(&self) -> bool {
        self.step().is_none_or(|step| step > Step::VerifyPool)
    }

    fn replacement(&self) -> String {
        if self.is_rebuilt() { self.pool().to_owned() } else { self.temporary() }
    }

    fn deletion(&self) -> Option<&Attempt> {
        let deletion = self.attempt(&Effect::key_of_deletion(self.pool()));
        deletion.filter(|attempt| attempt.may_have_happened())
    }

    fn aborts(&self) -> impl Iterator<Item = (&OperationScope, &Attempt)> {
        self.attempts.values().filter_map(|attempt| match &attempt.effect {
            Effect::AbortOperation { scope, .. } if attempt.may_have_happened() => {
                Some((scope, attempt))
            }
            _ => None,
        })
    }

    fn first_abort(&self) -> Option<Timestamp> {
        let own = |scope: &OperationScope| match scope {
            OperationScope::Cluster => true,
            OperationScope::Pool(pool) => pool == self.pool(),
        };
        self.aborts().filter(|(scope, _)| own(scope)).map(|(_, abort)| abort.first).min()
    }

    fn checked_before_abort(&self) -> Option<Timestamp> {
        self.facts.checked.filter(|_| self.aborts().next().is_some())
    }

    fn losses(&self) -> Vec<String> {
        let more = self.facts.more_losses;
        let more = (more > 0).then(|| {
            format!("{} without a controller or with local data", counted(more, "more pod"))
        });
        self.facts.losses.iter().cloned().chain(more).collect()
    }

    fn losses_with_abort(&self) -> Vec<String> {
        let mut losses = self.losses();
        if self.aborts().next().is_some() {
            losses.push("the aborted operation cannot be resumed".to_owned());
        }
        losses
    }
}
