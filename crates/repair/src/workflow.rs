//! The repair of a node pool as a workflow: its types, and what its journal says beyond steps and effects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::Replay;
use mooring_workflow::approval::{Approval, PlanHash};
use mooring_workflow::lock::Owner;
use mooring_workflow::store::JournalPlace;
use mooring_workflow::types::Types;
use serde::{Deserialize, Serialize};

use crate::effects::Effect;
use crate::names::temporary_pool;
use crate::observation::{Query, is_windows};
use crate::operation::Scope;
use crate::plan::{Document, Step};
use crate::settings::Settings;

/// The content of a record.
pub type Entry = mooring_workflow::Entry<PoolRepair>;
/// A record of the journal.
pub type Record = mooring_workflow::Record<Entry>;
/// A run as its records describe it.
pub type Run = mooring_workflow::Run<PoolRepair>;
/// What was tried for an effect.
pub type Attempt = mooring_workflow::Attempt<Effect>;
/// How a run stopped.
pub type RunOutcome = mooring_workflow::RunOutcome<PoolRepair>;
/// What to do next.
pub type Decision = mooring_workflow::Decision<PoolRepair>;

/// Rebuilds a wedged node pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolRepair;

impl Types for PoolRepair {
    const SCHEMA: &'static str = "mooring.repair.journal/v2";

    type Session = Session;
    type Step = Step;
    type Effect = Effect;
    type Fact = Fact;
    type Facts = Facts;
    type Finish = Finish;
    type Leftover = String;
    type Reason = Reason;
    type Query = Query;
}

impl Replay for PoolRepair {
    fn facts(session: &Session) -> Facts {
        Facts {
            plan_hash: session.plan.hash(),
            cordoned: BTreeSet::new(),
            workloads: BTreeMap::new(),
            losses: lost_secrets(&session.plan).collect(),
            judged: None,
        }
    }

    fn fold(run: &mut Run, entry: &Entry, at: Timestamp) {
        match entry {
            Entry::Resumed(session) | Entry::AbortStarted(session) => {
                let hash = session.plan.hash();
                if run.facts.plan_hash == hash {
                    return;
                }
                run.facts.plan_hash = hash;
                run.facts.workloads.clear();
                // No run begins under a new plan whose guards do not pass now.
                run.facts.judged = run.first_abort().map(|_| at);
                for lost in lost_secrets(&session.plan) {
                    if !run.facts.losses.contains(&lost) {
                        run.facts.losses.push(lost);
                    }
                }
            }
            Entry::Intent { effect, .. } => match &**effect {
                Effect::Cordon { node, .. } => drop(run.facts.cordoned.insert(node.clone())),
                Effect::AbortOperation { judged, .. } => {
                    run.facts.judged = run.facts.judged.or(*judged);
                }
                _ => {}
            },
            Entry::Fact(Fact::Workloads { step, workloads, losses }) => {
                run.facts.workloads.entry(*step).or_insert_with(|| workloads.clone());
                run.facts.losses.extend(losses.iter().cloned());
            }
            _ => {}
        }
    }
}

/// What the plan does not keep.
fn lost_secrets(plan: &Document) -> impl Iterator<Item = String> {
    let lost = |path: &String| format!("{path} may hold a secret and is not kept; set it again");
    plan.stripped.iter().map(lost)
}

/// What a process starts with that begins, continues or undoes a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The plan that is executed.
    pub plan: Arc<Document>,
    /// Overrides of this process alone, beside those of the plan.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, String>,
    /// On what authority it acts.
    pub approval: Approval,
    pub owner: Owner,
    pub journal: JournalPlace,
    /// How long the process may take.
    pub overall: SignedDuration,
    /// How long it pauses between two polls.
    pub poll: SignedDuration,
}

impl Session {
    /// Returns the settings that hold for this process.
    pub fn settings(&self) -> Settings {
        let mut settings = self.plan.settings.with_current_names();
        for (name, reason) in &self.overrides {
            settings.apply_override(name, reason);
        }
        settings.journal = self.journal.clone();
        settings.limits.overall = self.overall;
        settings.limits.poll = self.poll;
        settings
    }
}

impl mooring_workflow::Session for Session {
    fn approval(&self) -> &Approval {
        &self.approval
    }

    /// Under another plan every step runs again from live state; what was tried for an effect is remembered.
    fn continues(&self, earlier: &Self) -> bool {
        self.plan == earlier.plan
    }
}

/// What is recorded besides steps and effects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub enum Fact {
    /// How many pods of each controller served before a drain.
    Workloads {
        step: Step,
        /// By the controller's identity.
        workloads: BTreeMap<String, Workload>,
        /// Pods that nothing makes again, and pods with local data.
        losses: Vec<String>,
    },
}

/// Pods of one controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// `namespace/kind/name`.
    pub name: String,
    pub serving: usize,
}

/// What the records say that only a repair understands.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The hash of the session's plan.
    pub plan_hash: PlanHash,
    /// Nodes that this run cordoned, by name.
    pub cordoned: BTreeSet<String>,
    /// What served before each drain.
    pub workloads: BTreeMap<Step, BTreeMap<String, Workload>>,
    /// What was lost, or stays behind.
    pub losses: Vec<String>,
    /// When the plan's evidence was judged last before an operation was aborted.
    judged: Option<Timestamp>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// The pool was rebuilt and the cure verified.
    Repaired,
    /// There was nothing to do, or no longer.
    NothingToDo,
    Refused,
    /// What could be undone was undone.
    Aborted,
}

/// Why a run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "a fixed vocabulary; the message beside it is the explanation")]
pub enum Reason {
    Deadline,
    Interrupted,
    StepTimeout,
    PoolChanged,
    PoolGone,
    GuardRefused,
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

    /// A rollback that can undo nothing is over.
    fn ends_rollback(self) -> bool {
        self == Self::NotUndoable
    }
}

/// Questions that only a repair asks of its run.
pub trait RepairRun {
    fn pool(&self) -> &str;
    /// The temporary pool's name.
    fn temporary(&self) -> String;
    /// Returns true once the pool is verified, and the temporary one is emptied.
    fn is_rebuilt(&self) -> bool;
    /// The pool that takes the pods: the temporary one until the pool is rebuilt.
    fn replacement(&self) -> String;
    /// The last try to delete the pool that the service may have accepted.
    fn deletion(&self) -> Option<&Attempt>;
    /// Aborts of operations that may have happened.
    fn aborts(&self) -> impl Iterator<Item = (&Scope, &Attempt)>;
    /// When this run first aborted an operation of its cluster or pool, as its journal has it.
    fn first_abort(&self) -> Option<Timestamp>;
    /// When this plan's guards passed right before this run aborted an operation; none if it aborted none.
    fn judged_before_abort(&self) -> Option<Timestamp>;
    /// What a person must know at the end.
    fn losses(&self) -> Vec<String>;
    /// The same at the end of a run that is not repaired: what was aborted stays so.
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

    fn aborts(&self) -> impl Iterator<Item = (&Scope, &Attempt)> {
        self.attempts.values().filter_map(|attempt| match &attempt.effect {
            Effect::AbortOperation { scope, .. } if attempt.may_have_happened() => {
                Some((scope, attempt))
            }
            _ => None,
        })
    }

    fn first_abort(&self) -> Option<Timestamp> {
        let own = |scope: &Scope| match scope {
            Scope::Cluster => true,
            Scope::Pool(pool) => pool == self.pool(),
        };
        self.aborts().filter(|(scope, _)| own(scope)).map(|(_, abort)| abort.first).min()
    }

    fn judged_before_abort(&self) -> Option<Timestamp> {
        self.facts.judged.filter(|_| self.aborts().next().is_some())
    }

    fn losses(&self) -> Vec<String> {
        self.facts.losses.clone()
    }

    fn losses_with_abort(&self) -> Vec<String> {
        let mut losses = self.losses();
        if self.aborts().next().is_some() {
            losses.push("the operation that was aborted cannot be taken up again".to_owned());
        }
        losses
    }
}
