//! Spans that were found in files or derived from objects.

use jiff::Timestamp;

use crate::model::timeline::{Kind, Source};

/// A span whose end may be unknown.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) start: Timestamp,
    pub(crate) end: Option<Timestamp>,
    pub(crate) failed: bool,
    pub(crate) sources: Vec<Source>,
    pub(crate) message: String,
}
