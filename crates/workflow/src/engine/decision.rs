//! Decisions of a workflow, and the reasons why it cannot decide.

use jiff::Timestamp;

use crate::journal::Types;

#[derive(Debug, Clone, PartialEq)]
pub enum Decision<W: Types> {
    /// The step is complete; the texts are evidence for the journal.
    Done(Vec<String>),
    Record(Box<W::Fact>),
    /// Record the intent, perform the effect, record its result.
    Apply(Box<W::Effect>),
    /// Wait until then, and read again.
    Wait {
        until: Timestamp,
        why: String,
    },
    /// Forget the view and read again.
    Refresh,
    Finish(W::Finish, Vec<W::Leftover>),
    Stop(Stop<W>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Stop<W: Types> {
    pub kind: StopKind<W>,
    pub reason: W::Reason,
    /// The reason, for operators.
    pub message: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StopKind<W: Types> {
    /// `resume` continues it.
    Resumable,
    /// The run has ended, and nothing that it changed needs another run.
    Finished(W::Finish, Vec<W::Leftover>),
}

impl<W: Types> Decision<W> {
    pub fn resumable(reason: W::Reason, message: impl Into<String>) -> Self {
        Self::Stop(Stop { kind: StopKind::Resumable, reason, message: message.into() })
    }

    pub fn finished(
        finish: W::Finish,
        left: Vec<W::Leftover>,
        reason: W::Reason,
        message: String,
    ) -> Self {
        Self::Stop(Stop { kind: StopKind::Finished(finish, left), reason, message })
    }
}

/// The reason why nothing can be decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Unknown<W: Types> {
    /// The workflow did not query it: a defect.
    NotRead(W::Query),
    /// The read failed and will be repeated; the text names what the run waits for.
    Failed(String),
    /// The read fails until an operator changes something.
    Denied(W::Reason, String),
}

/// The reason why a step is not complete: another decision comes first, or something is unknown. A step returns it with `?`.
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
    pub fn decision(self) -> Result<Decision<W>, Unknown<W>> {
        match self {
            Self::Decision(decision) => Ok(decision),
            Self::Unknown(unknown) => Err(unknown),
        }
    }
}
