//! What the journal of a removal holds.

use serde::{Deserialize, Serialize};

use super::effect::Effect;
use super::profile::Profile;
use super::step::Step;
use crate::approval::PlanHash;
use crate::effects::EffectResult;
use crate::journal::{Content, Owner, Record};

/// What a record says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub enum Entry {
    /// A run begins.
    RunStarted {
        /// The plan that was approved.
        plan_hash: PlanHash,
        /// How it was approved.
        approval: ApprovalKind,
        /// The uid of the cluster's `kube-system`.
        cluster: String,
        /// What is removed. A resumed run compares it, and acts on the profile of its own command line.
        profile: Box<Profile>,
        /// Who runs it.
        owner: Owner,
    },
    /// The run goes on, with a plan of its own.
    Resumed {
        /// The plan that was made and approved for it.
        plan_hash: PlanHash,
        /// How it was approved.
        approval: ApprovalKind,
        /// The process.
        owner: Owner,
    },
    /// An effect is about to be made.
    Intent {
        /// By which step.
        step: Step,
        /// Which.
        #[serde(flatten)]
        effect: Box<Effect>,
        /// The how-manieth time, from 1.
        attempt: u32,
    },
    /// What came of the last intent.
    Outcome {
        /// The effect's key.
        key: String,
        /// What.
        #[serde(flatten)]
        result: EffectResult,
    },
    /// An object is left as it is, and why.
    Spared {
        /// Its path and identity.
        key: String,
        /// Why.
        why: String,
    },
    /// A step has come to its end.
    StepDone {
        /// Which.
        step: Step,
        /// How that was seen.
        proof: Vec<String>,
    },
    /// The run stopped before its end, and why.
    Stopped {
        /// A fixed word.
        reason: Reason,
        /// A sentence.
        message: String,
    },
    /// The run is over.
    Finished {
        /// What is left.
        left: Vec<Leftover>,
    },
}

impl Content for Entry {
    const SCHEMA: &'static str = "mooring.finalizers.journal/v2";
}

/// How a plan was approved. Recorded for the report; no run acts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalKind {
    /// By `--plan-hash`.
    Token,
    /// By a name that was typed to the plan.
    Typed,
    /// By `--best-effort`, of the plan that the command made itself.
    BestEffort,
    /// Not at all: nothing was left to do.
    NoTargets,
}

/// Why a run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "a fixed vocabulary; the message beside it is the explanation")]
pub enum Reason {
    Deadline,
    Interrupted,
    OperatorRuns,
    OperatorUnknown,
    SignedOut,
}

/// Something that is still there at the end, or of which nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    /// The resource.
    pub resource: String,
    /// The namespace, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name; `*` if it is not known which there are.
    pub name: String,
    /// Why it is still there.
    pub why: String,
    /// Finalizers that hold it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<String>,
}

/// Runs that a journal keeps.
const KEPT: usize = 4;

/// How many of the last records a journal must keep when a new run begins. Backups of earlier runs go with them.
#[must_use]
pub fn retained(records: &[Record<Entry>]) -> usize {
    let begins = |record: &Record<Entry>| matches!(record.entry, Entry::RunStarted { .. });
    let starts: Vec<usize> = (0..records.len()).filter(|at| begins(&records[*at])).collect();
    let first = starts.len().checked_sub(KEPT).map_or(0, |at| starts[at]);
    records.len() - first
}
