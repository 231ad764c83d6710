//! Removal of an operator's resources as a workflow: its types, and the facts of its runs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use mooring_workflow::EffectResult;
use mooring_workflow::Types;
use mooring_workflow::approval::{Approval, ApprovalToken};
use mooring_workflow::document::Backup;
use mooring_workflow::lock::LockOwner;
use serde::{Deserialize, Serialize};

use super::effect::Effect;
use super::step::Step;
use crate::cluster::view::Query;
use crate::operator::profile::Profile;

pub type Entry = mooring_workflow::Entry<FinalizerRemoval>;
pub type Record = mooring_workflow::Record<FinalizerRemoval>;
/// A stored run. It contributes backoff, skipped objects and the current step, never more targets.
pub type Run = mooring_workflow::Run<FinalizerRemoval>;
pub type Runs = mooring_workflow::Runs<FinalizerRemoval>;
pub type Attempt = mooring_workflow::Attempt<Effect>;
pub type RunOutcome = mooring_workflow::RunOutcome<FinalizerRemoval>;
pub type Decision = mooring_workflow::Decision<FinalizerRemoval>;

/// Removes the resources of an uninstalled operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinalizerRemoval;

impl Types for FinalizerRemoval {
    const SCHEMA: &'static str = "mooring.finalizers.document/v1";

    type Session = Session;
    type Step = Step;
    type Effect = Effect;
    type Fact = Fact;
    type Facts = Facts;
    type Finish = Finish;
    type Leftover = Leftover;
    type Reason = Reason;
    type Query = Query;

    fn facts(_: &Session) -> Facts {
        Facts::default()
    }

    fn fold(run: &mut Run, entry: &Entry, _: Timestamp) {
        match entry {
            Entry::Fact(Fact::Spared { key, why }) => {
                run.facts.spared.insert(key.clone(), why.clone());
            }
            Entry::Fact(Fact::Saved { key, .. }) => drop(run.facts.saved.insert(key.clone())),
            _ => {}
        }
    }

    fn backup(entry: &Entry) -> Option<&Backup> {
        match entry {
            Entry::Intent(effect) => match &**effect {
                Effect::Strip { backup, .. } => Some(backup),
                _ => None,
            },
            Entry::Fact(Fact::Saved { backup, .. }) => backup.as_ref(),
            _ => None,
        }
    }
}

/// Input of a process that starts or continues a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The plan's hash and expiry.
    pub plan: ApprovalToken,
    pub approval: Approval,
    /// Uid of the namespace kube-system.
    pub cluster: String,
    /// Compared with the profile of the command line, which a resumed run uses.
    pub profile: Box<Profile>,
    pub owner: LockOwner,
}

impl mooring_workflow::Session for Session {
    fn approval(&self) -> &Approval {
        &self.approval
    }

    /// Every step runs again from live state, regardless of the journal.
    fn continues(&self, _: &Self) -> bool {
        false
    }
}

/// Facts in addition to steps and effects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Fact {
    /// An object is skipped.
    Spared {
        /// Path and uid.
        key: String,
        why: String,
    },
    /// A copy of an object that is deleted with its namespace.
    Saved {
        /// Path and uid.
        key: String,
        /// None if it cannot be read, or is too large.
        backup: Option<Backup>,
    },
}

/// State from the facts of a removal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Skipped objects by path and uid, with reasons.
    pub spared: BTreeMap<String, String>,
    /// Objects with a copy, by path and uid. The next process finds the copies themselves.
    #[serde(skip)]
    pub saved: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    Clean,
    Leftovers,
}

/// An object that remains, or that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    pub resource: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// `*` if the names are unknown.
    pub name: String,
    pub why: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

    /// Removed objects are not restored.
    fn ends_rollback(self) -> bool {
        false
    }
}

pub trait RemovalRun {
    /// Returns the uids of deleted objects, by path.
    fn deleted(&self) -> BTreeMap<&str, BTreeSet<&str>>;
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
