//! What a journal holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::lock::Owner;
use crate::approval::Approval;
use crate::effects::{Effect, EffectResult};
use crate::guards::Guard;
use crate::plan::{Document, Step};
use crate::settings::{JournalPlace, Settings};

/// The schema of the records of a pool's repair.
pub const SCHEMA: &str = "mooring.repair.journal/v2";

/// What the records of one kind of journal say.
pub trait Content: Clone + PartialEq + Serialize + DeserializeOwned {
    /// The schema of the records that this version writes and reads.
    const SCHEMA: &'static str;
}

impl Content for Entry {
    const SCHEMA: &'static str = SCHEMA;
}

/// One record, of a pool's repair unless another content is named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record<E = Entry> {
    /// See [`Content::SCHEMA`].
    pub schema: String,
    /// Its place in the journal, from 0.
    pub seq: u64,
    /// The run that wrote it.
    pub run: String,
    /// When it was written, by the writer's clock.
    pub at: Timestamp,
    /// The hash of the record before it; empty for the first.
    pub prev: String,
    /// What it says.
    #[serde(flatten)]
    pub entry: E,
    /// SHA-256 over all of the above.
    pub hash: String,
}

/// What a record says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub enum Entry {
    /// A run begins.
    RunStarted(Box<Session>),
    /// A process continues it.
    Resumed(Box<Session>),
    /// What the guards said.
    Guards {
        /// At which step.
        step: Step,
        /// All of them.
        guards: Vec<Guard>,
    },
    /// How many pods of each controller served before a drain.
    Workloads {
        /// Before which step.
        step: Step,
        /// By the controller's identity.
        workloads: BTreeMap<String, Workload>,
        /// Pods that nothing makes again, and pods with local data.
        losses: Vec<String>,
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
    /// A step has reached its goal.
    StepDone {
        /// Which.
        step: Step,
        /// How that was seen.
        proof: Vec<String>,
    },
    /// The run stopped before its end, and why.
    Stopped {
        /// A fixed word.
        reason: String,
        /// A sentence.
        message: String,
    },
    /// From here on the run is undone instead of continued.
    AbortStarted(Box<Session>),
    /// The run is over.
    Finished {
        /// How.
        finish: Finish,
        /// What stays behind or could not be undone.
        left: Vec<String>,
    },
}

/// What a process starts with that begins, continues or undoes a run.
///
/// It is written by that process and read back by it alone: to the next one it is evidence, and what that one may do
/// is decided again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The plan that is executed.
    pub plan: Arc<Document>,
    /// Overrides of this process alone, beside those of the plan.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, String>,
    /// On what authority it acts.
    pub approval: Approval,
    /// The process.
    pub owner: Owner,
    /// Where this journal is.
    pub journal: JournalPlace,
    /// How long the process may take.
    pub overall: SignedDuration,
    /// How long it pauses between two polls.
    pub poll: SignedDuration,
}

impl Session {
    /// Returns the settings that hold for this process.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let mut settings = self.plan.settings.clone();
        for (name, reason) in &self.overrides {
            settings.go_over(name, reason);
        }
        settings.journal = self.journal.clone();
        settings.limits.overall = self.overall;
        settings.limits.poll = self.poll;
        settings
    }
}

/// Pods of one controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// `namespace/kind/name`.
    pub name: String,
    /// How many served.
    pub serving: usize,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// The pool was rebuilt and the cure verified.
    Repaired,
    /// There was nothing to do, or no longer.
    NothingToDo,
    /// A guard refused.
    Refused,
    /// What could be undone was undone.
    Aborted,
}
