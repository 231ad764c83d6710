//! Spans as the files have them, and limits.

use super::timestamp::Stamp;
use crate::model::timeline::{SpanKind, SpanSource};

pub(crate) const MAX_NAME: usize = 120;
pub(crate) const MAX_MESSAGE: usize = 300;
/// Maximum per kind; the rest is dropped and reported.
pub(crate) const MAX_SPANS: usize = 5000;

/// A span in the file's own time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RawSpan {
    pub(crate) name: String,
    pub(crate) kind: SpanKind,
    pub(crate) start: Stamp,
    /// None if it has not ended.
    pub(crate) end: Option<Stamp>,
    pub(crate) failed: bool,
    pub(crate) source: SpanSource,
    pub(crate) message: String,
}

pub(crate) fn kind_of(task: &str) -> SpanKind {
    match task {
        "AKS.CSE.cse_start" => SpanKind::Run,
        "AKS.AKSNodeController.Provision" => SpanKind::Agent,
        _ if task.starts_with("AKS.CSE.") => SpanKind::Step,
        _ => SpanKind::Beside,
    }
}
