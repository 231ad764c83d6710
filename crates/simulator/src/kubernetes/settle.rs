//! What happens by itself, until nothing more does.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::model::Kubernetes;

/// What is due, and when.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// The latest time that the model was told.
    pub(crate) now: Option<Timestamp>,
    /// Something was written since the last look.
    dirty: bool,
    /// The earliest time at which a pod starts or ends.
    pub(crate) pods: Option<Timestamp>,
    /// Definitions that are being deleted.
    pub(crate) removed_definitions: BTreeSet<String>,
}

impl Timers {
    /// Notes a write to a table. Events and leases move nothing.
    pub(crate) fn touch(&mut self, table: &str) {
        self.dirty |= !matches!(table, "events" | "leases.coordination.k8s.io");
    }
}

/// Enough rounds for any cascade; a bound, so that a mistake is not an endless loop.
const ROUNDS: usize = 1_000;

impl Kubernetes {
    /// Lets happen whatever is due.
    pub fn settle(&mut self, now: Timestamp) {
        self.timers.now = Some(now);
        self.settle_watches(now);
        let due = self.timers.pods.is_some_and(|then| then <= now);
        if !self.timers.dirty && !due {
            return;
        }
        for _ in 0..ROUNDS {
            self.timers.dirty = false;
            let mut changed = self.settle_definitions(now);
            if self.options.controllers {
                changed |= self.settle_nodes(now);
                changed |= self.settle_workloads(now);
                changed |= self.settle_scheduling(now);
                changed |= self.settle_pods(now);
                changed |= self.settle_budgets(now);
                changed |= self.settle_garbage(now);
                changed |= self.settle_namespaces(now);
            }
            if !changed {
                break;
            }
        }
        self.timers.dirty = false;
    }

    /// When something happens next if nobody does anything.
    #[must_use]
    pub fn next_change(&self) -> Option<Timestamp> {
        let now = self.timers.dirty.then(|| self.clock());
        [now, self.timers.pods, self.next_watch_change()].into_iter().flatten().min()
    }
}
