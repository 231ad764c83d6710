//! State of simulated Azure: resources, running operations and logs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;

use super::access::{ActionDenial, Assignment, DenyAssignment, Lock, initial};
use super::activity::ActivityLog;
use super::changes::AzureChange;
use super::event_queue::EventQueue;
use super::machine::{Cse, Guest, Join, Promise};
use super::operations::SimulatedOperation;
use super::options::AzureOptions;
use super::store::ResourceStore;
use super::time::later;
use crate::random::Random;

/// Maximum changes that wait for a reader: a cluster of 5,000 nodes, created and deleted.
const MAX_CHANGES: usize = 20_000;

/// The state that a stale read returns an older version of.
#[derive(Debug, Clone)]
pub(crate) struct AzureState {
    pub(crate) options: AzureOptions,
    pub(crate) store: ResourceStore,
    pub(crate) operations: BTreeMap<String, SimulatedOperation>,
    pub(crate) activity: ActivityLog,
    pub(crate) events: EventQueue,
    /// Wedged scale sets, by id in lower case, with the correlation id of all writes, if they share one.
    pub(crate) wedges: BTreeMap<String, Option<String>>,
    /// Ids of instances and VMs whose node has registered, in lower case.
    pub(crate) joined: BTreeSet<String>,
    /// Results of bootstraps in progress, by the id of their extension in lower case.
    pub(crate) scripts: BTreeMap<String, Cse>,
    /// Extensions to be created, by the VM's id in lower case.
    pub(crate) promises: BTreeMap<String, Promise>,
    /// VMs whose kubelet does not become ready, and VMs that do not work, by id in lower case.
    pub(crate) joins: BTreeMap<String, Join>,
    /// See `joins`.
    pub(crate) guests: BTreeMap<String, Guest>,
    /// VMs whose agent has stopped since it was last shown, by id in lower case.
    pub(crate) dead_agents: BTreeSet<String>,
    /// Number of VMs created, for their addresses.
    pub(crate) machines: u32,
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) denials: Vec<ActionDenial>,
    pub(crate) deny_assignments: Vec<DenyAssignment>,
    pub(crate) locks: Vec<Lock>,
    pub(crate) changes: Vec<AzureChange>,
    pub(crate) random: Random,
}

impl AzureState {
    pub(crate) fn new(options: AzureOptions, random: &Random) -> Self {
        let activity = ActivityLog::new(random);
        Self {
            assignments: initial(&options),
            options,
            store: ResourceStore::default(),
            operations: BTreeMap::new(),
            activity,
            events: EventQueue::default(),
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

    /// Returns `now` plus simulated seconds; speed shortens them.
    pub(crate) fn after(&self, now: Timestamp, seconds: u64) -> Timestamp {
        later(now, self.options.scaled(Duration::from_secs(seconds)))
    }

    /// Returns seconds for a `Retry-After` header: scaled, and at least one.
    pub(crate) fn retry_after(&self, seconds: u64) -> String {
        let scaled = self.options.scaled(Duration::from_secs(seconds));
        scaled.as_secs_f64().ceil().max(1.0).to_string()
    }

    /// Queues a change for the cluster's API. Without a reader, the oldest are dropped.
    pub(crate) fn queue_change(&mut self, change: AzureChange) {
        if self.changes.len() >= MAX_CHANGES {
            self.changes.drain(..MAX_CHANGES / 2);
        }
        self.changes.push(change);
    }

    pub(crate) fn guid(&mut self) -> String {
        self.random.guid()
    }
}
