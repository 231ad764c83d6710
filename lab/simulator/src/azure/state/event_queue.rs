//! Scheduled events.

use std::collections::BTreeMap;

use jiff::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScheduledEvent {
    OperationEnds {
        operation: String,
    },
    PoolGrows {
        operation: String,
    },
    PoolShrinks {
        operation: String,
    },
    MachineRuns {
        id: String,
    },
    ExtensionEnds {
        id: String,
    },
    BillingEnds {
        id: String,
    },
    /// An interface without an address shows an empty list.
    InterfaceStaysEmpty {
        nic: String,
    },
    NodeJoins {
        id: String,
    },
    /// AKS retries the write of a wedged scale set.
    WedgeRetries {
        vmss: String,
    },
}

/// Events ordered by time; equal times in the order of scheduling.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventQueue {
    events: BTreeMap<(Timestamp, u64), ScheduledEvent>,
    planned: u64,
}

impl EventQueue {
    pub(crate) fn plan(&mut self, at: Timestamp, event: ScheduledEvent) {
        self.planned += 1;
        self.events.insert((at, self.planned), event);
    }

    /// Returns the next event that is due at `now`, and its time.
    pub(crate) fn due(&mut self, now: Timestamp) -> Option<(Timestamp, ScheduledEvent)> {
        let first = self.events.first_entry()?;
        let at = first.key().0;
        (at <= now).then(|| (at, first.remove()))
    }

    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.events.keys().next().map(|(at, _)| *at)
    }

    pub(crate) fn forget(&mut self, is_gone: impl Fn(&ScheduledEvent) -> bool) {
        self.events.retain(|_, event| !is_gone(event));
    }
}
