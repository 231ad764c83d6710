//! What a journal holds.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lock::Owner;
use crate::effects::{Effect, EffectResult};
use crate::guards::Guard;
use crate::plan::Step;
use crate::settings::Settings;

/// The schema of the records of a pool's repair.
pub const SCHEMA: &str = "mooring.repair.journal/v1";

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
    RunStarted {
        /// The cluster's resource id.
        cluster: String,
        /// The plan that was approved.
        plan_hash: String,
        /// The hash of the pool in that plan.
        pool_hash: String,
        /// What was asked for, overrides included.
        settings: Box<Settings>,
        /// Who runs it.
        owner: Owner,
        /// A run that is over and left its temporary pool, which this one takes over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        adopts: Option<String>,
    },
    /// Somebody continues it.
    Resumed {
        /// Who.
        owner: Owner,
        /// What is overridden from here on, each with a reason.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        overrides: BTreeMap<String, String>,
        /// How long it may take from here on; as long as before if that is not said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overall: Option<SignedDuration>,
    },
    /// The pool as it was: the only copy once it is deleted.
    Snapshot {
        /// The raw JSON, without what may hold secrets.
        pool: Value,
        /// What was left out, as pointers.
        stripped: Vec<String>,
        /// The resource id of the scale set behind it; none if there was none.
        scale_set: Option<String>,
        /// The control plane's version.
        version: Option<String>,
        /// The cluster's state.
        cluster_state: String,
    },
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
    AbortStarted {
        /// Who asked for it.
        owner: Owner,
    },
    /// The run is over.
    Finished {
        /// How.
        finish: Finish,
        /// What stays behind or could not be undone.
        left: Vec<String>,
    },
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
