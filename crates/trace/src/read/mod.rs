//! Parsers of a node's files. Spans as files and objects have them, and limits.

pub(crate) mod collect;
pub(crate) mod files;
mod logs;
mod report;
pub(crate) mod timestamp;

use jiff::Timestamp;

pub(crate) use self::collect::exit_code;
pub use self::report::ended_at;
use self::timestamp::Stamp;
pub(crate) use crate::escape::MAX_NAME;
use crate::timeline::{SpanKind, SpanSource};

pub(crate) const MAX_MESSAGE: usize = 300;
/// Maximum per kind; the rest is dropped and reported.
pub(crate) const MAX_SPANS: usize = 5000;

/// A span that was found in files or derived from objects.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FoundSpan<T = Timestamp> {
    pub(crate) name: String,
    pub(crate) kind: SpanKind,
    pub(crate) start: T,
    /// None if it has not ended, or its end is unknown.
    pub(crate) end: Option<T>,
    pub(crate) failed: bool,
    pub(crate) sources: Vec<SpanSource>,
    pub(crate) message: String,
}

/// A span in the file's own time.
pub(crate) type RawSpan = FoundSpan<Stamp>;

impl<T> FoundSpan<T> {
    /// Returns a span that has not ended and has no message.
    pub(crate) fn new(
        name: impl Into<String>,
        kind: SpanKind,
        start: T,
        source: SpanSource,
    ) -> Self {
        Self {
            name: name.into(),
            kind,
            start,
            end: None,
            failed: false,
            sources: vec![source],
            message: String::new(),
        }
    }
}

pub(crate) fn kind_of(task: &str) -> SpanKind {
    match task {
        "AKS.CSE.cse_start" => SpanKind::Run,
        "AKS.AKSNodeController.Provision" => SpanKind::Agent,
        _ if task.starts_with("AKS.CSE.") => SpanKind::Step,
        _ => SpanKind::Beside,
    }
}
