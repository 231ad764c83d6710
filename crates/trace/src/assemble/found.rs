//! Spans that were found in files or derived from objects.

use jiff::Timestamp;

use crate::model::timeline::{SpanKind, SpanSource};

/// A span whose end may be unknown.
#[derive(Debug, Clone)]
pub(crate) struct FoundSpan {
    pub(crate) name: String,
    pub(crate) kind: SpanKind,
    pub(crate) start: Timestamp,
    pub(crate) end: Option<Timestamp>,
    pub(crate) failed: bool,
    pub(crate) sources: Vec<SpanSource>,
    pub(crate) message: String,
}
