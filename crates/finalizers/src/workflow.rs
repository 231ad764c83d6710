//! The removal of what an operator left as a workflow: its types, and what its journal says beyond steps and effects.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use mooring_workflow::approval::{Approval, PlanHash};
use mooring_workflow::lock::Owner;
use mooring_workflow::types::Types;
use mooring_workflow::{EffectResult, Replay};
use serde::{Deserialize, Serialize};

use crate::effect::Effect;
use crate::profile::Profile;
use crate::step::Step;
use crate::view::Query;

/// The content of a record.
pub type Entry = mooring_workflow::Entry<FinalizerRemoval>;
/// A record of the journal.
pub type Record = mooring_workflow::Record<Entry>;
/// A run as its records describe it. It contributes back-off, skipped objects and the current step to a session, nothing
/// that widens what it does.
pub type Run = mooring_workflow::Run<FinalizerRemoval>;
/// What was tried for an effect.
pub type Attempt = mooring_workflow::Attempt<Effect>;
/// How a run stopped.
pub type RunOutcome = mooring_workflow::RunOutcome<FinalizerRemoval>;
/// What to do next.
pub type Decision = mooring_workflow::Decision<FinalizerRemoval>;

/// Removes what a retired operator left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinalizerRemoval;

impl Types for FinalizerRemoval {
    const SCHEMA: &'static str = "mooring.finalizers.journal/v2";

    type Session = Session;
    type Step = Step;
    type Effect = Effect;
    type Fact = Fact;
    type Facts = Facts;
    type Finish = Finish;
    type Leftover = Leftover;
    type Reason = Reason;
    type Query = Query;
}

impl Replay for FinalizerRemoval {
    fn facts(_: &Session) -> Facts {
        Facts::default()
    }

    fn fold(run: &mut Run, entry: &Entry, _: Timestamp) {
        if let Entry::Fact(Fact::Spared { key, why }) = entry {
            run.facts.spared.insert(key.clone(), why.clone());
        }
    }
}

/// What a process starts with that begins or continues a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The plan that was made and approved for it.
    pub plan_hash: PlanHash,
    /// How it was approved.
    pub approval: Approval,
    /// The uid of the cluster's `kube-system`.
    pub cluster: String,
    /// What is removed. A resumed run compares it, and acts on the profile of its own command line.
    pub profile: Box<Profile>,
    pub owner: Owner,
}

impl mooring_workflow::Session for Session {
    fn approval(&self) -> &Approval {
        &self.approval
    }

    /// Every step runs again from live state: that a record calls one done shows nothing.
    fn continues(&self, _: &Self) -> bool {
        false
    }
}

/// What is recorded besides steps and effects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub enum Fact {
    /// An object is left as it is.
    Spared {
        /// Its path and identity.
        key: String,
        why: String,
    },
}

/// What the records say that only a removal understands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Objects that are left as they are, by path and identity, and why.
    pub spared: BTreeMap<String, String>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    Clean,
    Leftovers,
}

/// Something that is still there at the end, or of which nothing is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    pub resource: String,
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

/// Why a run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "a fixed vocabulary; the message beside it is the explanation")]
pub enum Reason {
    Deadline,
    Interrupted,
    OperatorRuns,
    OperatorUnknown,
    SignedOut,
    NotApproved,
}

impl mooring_workflow::types::Reason for Reason {
    const DEADLINE: Self = Self::Deadline;
    const INTERRUPTED: Self = Self::Interrupted;
    const STEP_TIMEOUT: Self = Self::Deadline;
    const NOT_APPROVED: Self = Self::NotApproved;
}

/// Questions that only a removal asks of its run.
pub trait RemovalRun {
    /// What was deleted: for each path the objects that were there, one after the other.
    fn deleted(&self) -> BTreeMap<&str, BTreeSet<&str>>;
    /// Returns true if anything was changed.
    fn acted(&self) -> bool;
}

impl RemovalRun for Run {
    fn deleted(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut deleted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for attempt in self.attempts.values() {
            if let Effect::Delete { target } = &attempt.effect {
                deleted.entry(&target.path).or_default().insert(&target.uid);
            }
        }
        deleted
    }

    fn acted(&self) -> bool {
        self.attempts.values().any(|attempt| attempt.result == Some(EffectResult::Done))
    }
}
