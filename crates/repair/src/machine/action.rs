//! What the machine can ask for.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::effects::Effect;
use crate::journal::{Entry, Finish};
use crate::observation::Query;
use crate::plan::Step;

/// Exactly one thing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Look at something.
    Observe(Query),
    /// Change something: write the intent, do it, write the result.
    Effect {
        /// For which step.
        step: Step,
        /// What.
        effect: Effect,
    },
    /// Nothing before this instant.
    Wait {
        /// When to look again.
        until: Timestamp,
        /// For what, in words.
        why: String,
    },
    /// Write something down.
    Record(Box<Entry>),
    /// The run is over.
    Done(Finish),
    /// The run stops before its end.
    Stop {
        /// Whether it can go on later.
        kind: StopKind,
        /// A fixed word.
        reason: Reason,
        /// A sentence.
        message: String,
    },
}

/// Whether a stopped run can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopKind {
    /// `resume` continues it.
    Resumable,
    /// A guard refused, and nothing was changed that needs going on.
    Refused,
    /// There is nothing to do, or not yet, and nothing was changed.
    NothingToDo,
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

impl Reason {
    /// The word, as in JSON.
    #[must_use]
    pub fn word(self) -> String {
        serde_json::to_value(self)
            .ok()
            .and_then(|value| value.as_str().map(str::to_owned))
            .unwrap_or_default()
    }
}

impl Action {
    pub(crate) fn record(entry: Entry) -> Self {
        Self::Record(Box::new(entry))
    }

    pub(crate) fn resumable(reason: Reason, message: String) -> Self {
        Self::Stop { kind: StopKind::Resumable, reason, message }
    }

    pub(crate) fn refused(reason: Reason, message: String) -> Self {
        Self::Stop { kind: StopKind::Refused, reason, message }
    }

    pub(crate) fn nothing(reason: Reason, message: String) -> Self {
        Self::Stop { kind: StopKind::NothingToDo, reason, message }
    }
}
