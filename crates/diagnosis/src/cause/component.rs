//! Component of a node or of its cluster.

use crate::cause::entry::Cause;

#[derive(Debug)]
pub(crate) struct Component {
    /// Stable name for documents and metrics.
    pub(crate) name: &'static str,
    /// What a failure of the component usually needs.
    pub(crate) cause: &'static Cause,
    /// True if its words alone show that a text is about a node.
    pub(crate) is_specific: bool,
    /// In lowercase.
    pub(crate) words: &'static [&'static str],
}
