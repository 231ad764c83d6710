//! Classes of requests by what a repetition changes.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Changes nothing. Some POSTs are reads: credentials, Resource Graph.
    Read,
    /// Changes the same thing to the same state each time: PUT, DELETE, a merging PATCH.
    Idempotent,
    /// Has an effect each time: abort, run command.
    Once,
}

impl Class {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Idempotent => "idempotent",
            Self::Once => "once",
        }
    }
}
