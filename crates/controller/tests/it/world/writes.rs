//! Numbers of writes and reads of a run.

use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Writes {
    /// Patches that changed a condition, by NodeClaim and message: first writes.
    pub(crate) verdicts: BTreeSet<(String, String)>,
    pub(crate) reasserts: u32,
    pub(crate) rejected_patches: u32,
    pub(crate) events: u32,
    pub(crate) events_again: u32,
    pub(crate) records: u32,
    /// Not in the total: a kill changes which outcomes are written together.
    pub(crate) counts: u32,
    pub(crate) reads: u32,
    pub(crate) sweeps: u32,
    pub(crate) inspections: u32,
}

impl Writes {
    pub(crate) fn total(&self) -> u32 {
        u32::try_from(self.verdicts.len()).unwrap() + self.reasserts + self.events + self.records
    }

    pub(crate) fn number(&self) -> u32 {
        self.total() + self.counts
    }
}
