//! What a journal holds.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::document::Document;
use crate::effect::EffectResult;
use crate::types::Types;

/// What the records of one kind of journal hold.
pub trait Content: Document {
    /// The schema of the records that this version writes and reads.
    const SCHEMA: &'static str;
}

impl<W: Types> Content for Entry<W> {
    const SCHEMA: &'static str = W::SCHEMA;
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record<E> {
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
    #[serde(flatten)]
    pub entry: E,
    /// SHA-256 over all of the above.
    pub hash: String,
}

/// The content of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case", bound = "")]
pub enum Entry<W: Types> {
    RunStarted(Box<W::Session>),
    /// A process continues it.
    Resumed(Box<W::Session>),
    /// From here on the run is rolled back.
    AbortStarted(Box<W::Session>),
    /// An effect is about to be made.
    Intent {
        step: W::Step,
        #[serde(flatten)]
        effect: Box<W::Effect>,
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// The result of the last intent.
    Outcome {
        key: String,
        #[serde(flatten)]
        result: EffectResult,
    },
    /// A step has reached its goal.
    StepDone {
        step: W::Step,
        proof: Vec<String>,
    },
    /// The run stopped before its end.
    Stopped {
        /// The reason, for programs.
        reason: W::Reason,
        /// The reason, for people.
        message: String,
    },
    /// The run is over.
    Finished {
        finish: W::Finish,
        left: Vec<W::Leftover>,
    },
    /// A fact of the workflow, with a tag of its own.
    #[serde(untagged)]
    Fact(W::Fact),
}
