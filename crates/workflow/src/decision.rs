//! What a workflow decides, and what it cannot decide.

use jiff::Timestamp;

use crate::types::Types;

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision<W: Types> {
    /// The step reached its goal; the texts are evidence for the journal.
    Done(Vec<String>),
    Record(Box<W::Fact>),
    /// Make a change: write the intent, make it, write the result.
    Apply(Box<W::Effect>),
    /// Do nothing before this time.
    Wait {
        /// When to read again.
        until: Timestamp,
        /// What is waited for.
        why: String,
    },
    /// Forget the view and read again.
    Refresh,
    Finish(W::Finish, Vec<W::Leftover>),
    /// The run stops before its end.
    Stop(Stop<W>),
}

/// A stop before the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop<W: Types> {
    /// Whether the run can be continued.
    pub kind: StopKind<W>,
    /// The reason, for programs.
    pub reason: W::Reason,
    /// The reason, for people.
    pub message: String,
}

/// Whether a stopped run can be continued.
#[derive(Debug, Clone, PartialEq)]
pub enum StopKind<W: Types> {
    /// `resume` continues it.
    Resumable,
    /// It is over, and nothing was changed that must be continued.
    Finished(W::Finish, Vec<W::Leftover>),
}

impl<W: Types> Decision<W> {
    /// A stop that can be resumed.
    pub fn resumable(reason: W::Reason, message: impl Into<String>) -> Self {
        Self::Stop(Stop { kind: StopKind::Resumable, reason, message: message.into() })
    }

    /// A stop after which the run is over.
    pub fn finished(
        finish: W::Finish,
        left: Vec<W::Leftover>,
        reason: W::Reason,
        message: String,
    ) -> Self {
        Self::Stop(Stop { kind: StopKind::Finished(finish, left), reason, message })
    }
}

/// Why nothing can be decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Unknown<W: Types> {
    /// The workflow did not ask for it: a defect.
    NotRead(W::Query),
    /// It could not be read for now; the text is what is waited for.
    Failed(String),
    /// It cannot be read until an operator changes something.
    Denied(W::Reason, String),
}

/// What keeps a step from its goal: something is to be done first, or something is unknown. A step returns it with `?`.
#[derive(Debug, Clone, PartialEq)]
pub enum Halt<W: Types> {
    Decision(Decision<W>),
    Unknown(Unknown<W>),
}

impl<W: Types> From<Decision<W>> for Halt<W> {
    fn from(decision: Decision<W>) -> Self {
        Self::Decision(decision)
    }
}

impl<W: Types> From<Unknown<W>> for Halt<W> {
    fn from(unknown: Unknown<W>) -> Self {
        Self::Unknown(unknown)
    }
}

impl<W: Types> Halt<W> {
    /// Returns the decision, if there is one.
    pub fn decision(self) -> Result<Decision<W>, Unknown<W>> {
        match self {
            Self::Decision(decision) => Ok(decision),
            Self::Unknown(unknown) => Err(unknown),
        }
    }
}
