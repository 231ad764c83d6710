//! The records of a journal, and retention of old runs.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::document::Document;
use crate::model::effect::EffectResult;
use crate::model::types::Types;

/// The content of the records of one kind of journal.
pub trait Content: Document {
    /// The only schema that this version writes and reads.
    const SCHEMA: &'static str;
}

impl<W: Types> Content for Entry<W> {
    const SCHEMA: &'static str = W::SCHEMA;
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record<E> {
    pub schema: String,
    /// Position in the journal, from 0.
    pub seq: u64,
    pub run: String,
    /// Time by the writer's clock.
    pub at: Timestamp,
    #[serde(flatten)]
    pub entry: E,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case", bound = "")]
pub enum Entry<W: Types> {
    RunStarted(Box<W::Session>),
    Resumed(Box<W::Session>),
    AbortStarted(Box<W::Session>),
    /// Written before an effect.
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
    StepDone {
        step: W::Step,
        #[serde(rename = "proof")]
        evidence: Vec<String>,
    },
    /// The run stopped before its end.
    Stopped {
        reason: W::Reason,
        message: String,
    },
    Finished {
        finish: W::Finish,
        left: Vec<W::Leftover>,
    },
    /// A fact of the workflow, with its own tag.
    #[serde(untagged)]
    Fact(W::Fact),
}

/// Returns the number of records to keep when a new run starts: those of the last `runs` runs, and of all runs since the
/// first one that `is_needed`.
pub fn retained<W: Types>(
    records: &[Record<Entry<W>>],
    runs: usize,
    is_needed: impl Fn(&str) -> bool,
) -> usize {
    let begins = |record: &Record<Entry<W>>| matches!(record.entry, Entry::RunStarted(_));
    let starts: Vec<usize> = (0..records.len()).filter(|at| begins(&records[*at])).collect();
    let recent = starts.len().saturating_sub(runs);
    let needed = starts.iter().position(|at| is_needed(&records[*at].run)).unwrap_or(recent);
    records.len() - starts.get(recent.min(needed)).copied().unwrap_or_default()
}
