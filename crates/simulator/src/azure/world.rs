//! The state of simulated Azure: resources, what is under way, and what has been written down.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::Options;
use super::access::Denial;
use super::activity::ActivityLog;
use super::agenda::Agenda;
use super::changes::Change;
use super::cse::Cse;
use super::operations::Operation;
use super::store::Store;
use super::wedge::Wedge;
use crate::random::Random;

/// How many changes wait for a listener: a cluster of 5,000 nodes that comes and goes.
const UNHEARD: usize = 20_000;

/// Everything that a stale read can see an older form of.
#[derive(Debug, Clone)]
pub(crate) struct World {
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
    /// How many machines there have been, for their addresses.
    pub(crate) machines: u32,
    /// What principals may not do.
    pub(crate) denials: Vec<Denial>,
    pub(crate) changes: Vec<Change>,
    pub(crate) random: Random,
}

impl World {
    pub(crate) fn new(options: Options, random: &Random) -> Self {
        let activity = ActivityLog::default();
        Self {
            options,
            store: Store::default(),
            operations: BTreeMap::new(),
            activity,
            agenda: Agenda::default(),
            wedges: BTreeMap::new(),
            joined: BTreeSet::new(),
            scripts: BTreeMap::new(),
            machines: 0,
            denials: Vec::new(),
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
        guid(&mut self.random)
    }
}

/// A random id in the form of a version-4 UUID.
pub(crate) fn guid(random: &mut Random) -> String {
    let (high, low) = (random.draw(), random.draw());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        0x8000 | ((low >> 48) & 0x3fff),
        low & 0xffff_ffff_ffff
    )
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
