//! What will happen by itself, and when.

use std::collections::BTreeMap;

use jiff::Timestamp;

/// Something that happens without a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// An operation comes to its end.
    OperationEnds {
        operation: String,
    },
    /// A pool's operation gets to its scale set.
    PoolGrows {
        operation: String,
    },
    /// A pool's operation takes instances away.
    PoolShrinks {
        operation: String,
    },
    /// A virtual machine (of a scale set or not) is running.
    MachineRuns {
        id: String,
    },
    /// A bootstrap extension ends.
    ExtensionEnds {
        id: String,
    },
    /// A billing extension ends.
    BillingEnds {
        id: String,
    },
    /// An interface that gets no address shows so.
    InterfaceStaysEmpty {
        nic: String,
    },
    NodeJoins {
        id: String,
    },
    /// AKS tries once more to write a wedged scale set.
    WedgeRetries {
        vmss: String,
    },
}

/// Events in the order of their times; equal times in the order in which they were planned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Agenda {
    events: BTreeMap<(Timestamp, u64), Event>,
    planned: u64,
}

impl Agenda {
    pub(crate) fn plan(&mut self, at: Timestamp, event: Event) {
        self.planned += 1;
        self.events.insert((at, self.planned), event);
    }

    /// The next event that is due at `now`, and when it was.
    pub(crate) fn due(&mut self, now: Timestamp) -> Option<(Timestamp, Event)> {
        let first = self.events.first_entry()?;
        let at = first.key().0;
        (at <= now).then(|| (at, first.remove()))
    }

    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.events.keys().next().map(|(at, _)| *at)
    }

    /// Forgets what is no longer to happen.
    pub(crate) fn forget(&mut self, is_gone: impl Fn(&Event) -> bool) {
        self.events.retain(|_, event| !is_gone(event));
    }
}
