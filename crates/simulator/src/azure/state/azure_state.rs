//! The state of simulated Azure: resources, what is under way, and what has been written down.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::access::DenyAssignment;
use super::access::Lock;
use super::access::{Assignment, Denial, initial};
use super::activity::ActivityLog;
use super::agenda::Agenda;
use super::changes::Change;
use super::machine::Promise;
use super::machine::{Cse, Guest, Join};
use super::operations::Operation;
use super::options::Options;
use super::store::Store;
use super::wedge::Wedge;
use crate::random::Random;

/// How many changes wait for a listener: a cluster of 5,000 nodes that comes and goes.
const UNHEARD: usize = 20_000;

/// Everything that a stale read can see an older form of.
#[derive(Debug, Clone)]
pub(crate) struct AzureState {
    pub(crate) options: Options,
    pub(crate) store: Store,
    pub(crate) operations: BTreeMap<String, Operation>,
    pub(crate) activity: ActivityLog,
    pub(crate) agenda: Agenda,
    /// Scale sets whose writes fail, by id in lower case.
    pub(crate) wedges: BTreeMap<String, Wedge>,
    /// Ids of instances and VMs whose node has registered, in lower case.
    pub(crate) joined: BTreeSet<String>,
    /// How bootstraps that still run will end, by the id of their extension in lower case.
    pub(crate) scripts: BTreeMap<String, Cse>,
    /// Extensions that VMs do not have yet, by the VM's id in lower case.
    pub(crate) promises: BTreeMap<String, Promise>,
    /// Machines whose kubelet does not get all the way, and machines that do not work, by id in lower case.
    pub(crate) joins: BTreeMap<String, Join>,
    /// See `joins`.
    pub(crate) guests: BTreeMap<String, Guest>,
    /// Machines whose agent has died since it was last shown, by id in lower case.
    pub(crate) dead_agents: BTreeSet<String>,
    /// How many machines there have been, for their addresses.
    pub(crate) machines: u32,
    /// The roles of principals.
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) denials: Vec<Denial>,
    pub(crate) deny_assignments: Vec<DenyAssignment>,
    pub(crate) locks: Vec<Lock>,
    pub(crate) changes: Vec<Change>,
    pub(crate) random: Random,
}

impl AzureState {
    pub(crate) fn new(options: Options, random: &Random) -> Self {
        let activity = ActivityLog::new(random);
        Self {
            assignments: initial(&options),
            options,
            store: Store::default(),
            operations: BTreeMap::new(),
            activity,
            agenda: Agenda::default(),
            wedges: BTreeMap::new(),
            joined: BTreeSet::new(),
            scripts: BTreeMap::new(),
            promises: BTreeMap::new(),
            joins: BTreeMap::new(),
            guests: BTreeMap::new(),
            dead_agents: BTreeSet::new(),
            machines: 0,
            denials: Vec::new(),
            deny_assignments: Vec::new(),
            locks: Vec::new(),
            changes: Vec::new(),
            random: random.fork("world"),
        }
    }

    /// So many simulated seconds after `now`; speed shortens them.
    pub(crate) fn after(&self, now: Timestamp, seconds: u64) -> Timestamp {
        later(now, self.options.scaled(Duration::from_secs(seconds)))
    }

    /// Seconds for a `Retry-After` header: scaled, and at least one.
    pub(crate) fn retry_after(&self, seconds: u64) -> String {
        let scaled = self.options.scaled(Duration::from_secs(seconds));
        scaled.as_secs_f64().ceil().max(1.0).to_string()
    }

    /// Tells the cluster's API of a change. Where nobody listens, the oldest are dropped.
    pub(crate) fn tell(&mut self, change: Change) {
        if self.changes.len() >= UNHEARD {
            self.changes.drain(..UNHEARD / 2);
        }
        self.changes.push(change);
    }

    /// A new random id in the usual form.
    pub(crate) fn guid(&mut self) -> String {
        self.random.guid()
    }
}

/// `now` and a while; the end of time at most.
pub(crate) fn later(now: Timestamp, by: Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    now.saturating_add(by).unwrap_or(Timestamp::MAX)
}

/// `now` less so many seconds.
pub(crate) fn earlier(now: Timestamp, seconds: i64) -> Timestamp {
    now.saturating_sub(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MIN)
}

/// A time as Azure writes it, with seven digits behind the point.
pub(crate) fn stamp(time: Timestamp) -> String {
    format!("{time:.7}")
}
