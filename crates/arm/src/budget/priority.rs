#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Reads of resources that will be deleted within seconds.
    Trigger,
    /// Reads that a user or a running repair waits for.
    Interactive,
    Routine,
    /// Reads of everything, not urgent.
    Sweep,
}

impl Priority {
    /// Returns the percentage of each bucket that is reserved for higher priorities.
    pub(super) const fn reserve(self) -> u32 {
        match self {
            Self::Trigger => 0,
            Self::Interactive => 10,
            Self::Routine => 25,
            Self::Sweep => 50,
        }
    }
}
