//! What is kept for a claim beside the claim.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::limits::{ANSWERED_WITHIN, REASSERTED_FOR};
use crate::claim::Claim;
use crate::observation::karpenter::ProvisioningError;
use crate::record::Entry;
use crate::schedule::{Looks, Priority};
use crate::verdict::condition::Reason;
use crate::verdict::registration::{Overdue, VmState, overdue, overdue_after_success};
use crate::verdict::wording;

/// A claim and where it stands.
#[derive(Debug)]
pub(super) struct Tracked {
    pub(super) claim: Claim,
    /// The verdict to stand on the object.
    pub(super) held: Option<Held>,
    /// What is going on; nothing for a node that is up.
    pub(super) work: Option<Box<Work>>,
    /// The object is gone since then; only events and the record are left to write.
    pub(super) gone: Option<Timestamp>,
    /// Its node was counted by image.
    pub(super) counted: bool,
}

/// A verdict in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) reason: Reason,
    pub(super) message: Arc<str>,
    /// It is known to have been on the object. A verdict recalled from the record may have been, too; its
    /// next write is counted as a first one.
    pub(super) stood: bool,
}

#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) looks: Looks,
    /// A read was asked for then and not answered.
    pub(super) reading: Option<(Timestamp, Priority)>,
    /// A patch was asked for then and not answered.
    pub(super) patching: Option<Timestamp>,
    /// Patches that failed in a row.
    pub(super) refusals: u32,
    /// When the condition was last written again after another writer had dropped it, and how often in a row.
    pub(super) reasserted: Option<(Timestamp, u32)>,
    /// Since when a success waits to be written.
    pub(super) success: Option<Timestamp>,
    /// An event that reports a failure. No read has contradicted it.
    pub(super) event: Option<ProvisioningError>,
    /// When an event last asked for reads, and how many were made since then.
    pub(super) burst: Option<(Timestamp, u32)>,
    /// All reads that events asked for.
    pub(super) event_reads: u32,
    /// The VM is gone, so the AKS machine is asked.
    pub(super) vm_missing: bool,
    /// The VM was read after its CSE had succeeded and its node was overdue.
    pub(super) late_read: bool,
    /// The end of what CSE printed, where its node is overdue.
    pub(super) output: Option<String>,
    /// What was seen of the VM last.
    pub(super) vm: Option<VmState>,
    /// The cluster was asked about the node then, and has not answered.
    pub(super) inspecting: Option<Timestamp>,
    /// The cluster is not asked again before then.
    pub(super) inspect_after: Option<Timestamp>,
}

/// A failure in the record, in short.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) at: Timestamp,
    pub(super) reason: Option<Reason>,
    pub(super) message: String,
}

impl Recorded {
    pub(super) fn of(entry: &Entry) -> Self {
        Self { at: entry.at, reason: Reason::parse(&entry.reason), message: entry.message.clone() }
    }
}

impl Work {
    /// Whether the condition is being written, waits to be, or was lately dropped by another writer.
    pub(super) fn has_writes(&self, now: Timestamp) -> bool {
        let dropped = self.reasserted;
        self.patching.is_some()
            || self.refusals > 0
            || self.success.is_some()
            || dropped.is_some_and(|(at, _)| now.duration_since(at) <= REASSERTED_FOR)
    }
}

impl Tracked {
    pub(super) fn new(claim: Claim) -> Self {
        Self { claim, held: None, work: None, gone: None, counted: false }
    }

    pub(super) fn work(&mut self) -> &mut Work {
        self.work.get_or_insert_default()
    }

    pub(super) fn looks(&self) -> Looks {
        let looks = self.work.as_ref().map_or_else(Looks::default, |work| work.looks);
        let told_idle =
            self.held.as_ref().is_some_and(|held| held.message.ends_with(wording::IDLE));
        let not_before = self.work.as_ref().and_then(|work| work.inspect_after);
        Looks { told_idle, not_before, ..looks }
    }

    pub(super) fn reason(&self) -> Option<Reason> {
        self.held.as_ref().map(|held| held.reason)
    }

    /// When a read was asked for that may still be answered.
    pub(super) fn reading_since(&self, now: Timestamp) -> Option<Timestamp> {
        let (since, _) = self.work.as_ref()?.reading?;
        (now.duration_since(since) < ANSWERED_WITHIN).then_some(since)
    }

    pub(super) fn is_settled(&self) -> bool {
        self.reason().is_some_and(Reason::is_terminal)
    }

    /// Returns true if nothing more can be found.
    pub(super) fn is_explained(&self, patience: SignedDuration, now: Timestamp) -> bool {
        self.is_settled() && overdue_of(self, patience, now).is_none()
    }

    /// Bytes outside of the table.
    pub(super) fn heap(&self) -> usize {
        let work = self.work.as_ref().map_or(0, |_| size_of::<Work>() + 16);
        self.claim.footprint() - size_of::<Claim>() + work
    }
}

/// Returns how a NodeClaim that is not explained ended unregistered, if it did. The success of CSE explains nothing.
pub(super) fn overdue_of(
    tracked: &Tracked,
    patience: SignedDuration,
    now: Timestamp,
) -> Option<Overdue> {
    let claim = &tracked.claim;
    if claim.launched.is_none() || claim.vm.is_none() {
        return None;
    }
    match tracked.reason() {
        Some(Reason::CseSucceeded) => overdue_after_success(claim, tracked.gone, patience, now),
        _ if tracked.is_settled() => None,
        _ => overdue(claim, tracked.gone, now),
    }
}
