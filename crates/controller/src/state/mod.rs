//! The controller as data: inputs in, actions out, nothing else.
//!
//! Level-triggered: whatever order inputs come in, and however often, the actions lead to the same
//! objects. What must survive a crash is on the API server: the verdict in the claim's condition and
//! in the record, the events under names that follow from the verdict. For a failure the order of
//! actions is record, events, condition; so a condition that stands means that all is written, and a
//! record without one means that the rest is to be made up for.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::claim::Claim;
use crate::claim::vm_id::{MachineId, VmId};
use crate::fleet::FleetWatch;
use crate::metrics::Lengths;
use crate::observation::karpenter::ProvisioningError;
use crate::observation::node::Node;
use crate::observation::{MachineSeen, Observation, Progress};
use crate::record::{Document, Entry};
use crate::schedule::share::Share;
use crate::schedule::{Priority, Queue};
use crate::settings::Settings;
use crate::verdict::Verdict;
use crate::verdict::event::{Event, Kind};
use crate::verdict::patch;
use crate::verdict::registration::RequestState;

mod deferred;
mod event_reads;
mod inputs;
mod nodes;
mod reading;
mod reconcile;
mod registering;
mod sweeping;
mod telling;
mod tracked;

pub use sweeping::{query as sweep_query, rows as sweep_rows};
use tracked::{Recorded, Tracked};

#[derive(Clone, Debug)]
pub enum Input {
    /// A claim was seen: in a list, a watch, or the answer to a read or a write.
    Claim(Box<Claim>),
    /// A claim was removed.
    ClaimGone(Arc<str>),
    /// A list is complete; claims that are not in it are gone.
    Listed(HashSet<Arc<str>>),
    /// A `NodePool` or `AKSNodeClass` is there.
    Object {
        kind: Kind,
        name: String,
        uid: String,
    },
    /// A Node that is not registered was seen.
    Node(Node),
    /// A Node was deleted or registered.
    NodeGone {
        name: String,
        uid: String,
    },
    /// All Nodes that are not registered.
    Nodes(Vec<Node>),
    /// An event says that Karpenter gives a node up.
    GivenUp(ProvisioningError),
    /// The record, as it was read. To be given before [`Input::Leads`].
    Record(Document),
    /// A read was answered, or was not.
    Observed {
        uid: Arc<str>,
        observation: Observation,
    },
    /// A sweep was answered.
    Swept(Swept),
    /// The certificate signing requests of a node were read, or were not.
    Inspected {
        uid: Arc<str>,
        /// Newest decision on them.
        request: RequestState,
    },
    /// The patch of a claim was answered.
    Patched {
        uid: Arc<str>,
        answer: patch::Answer,
    },
    /// The write queue is full: these actions were not performed.
    Deferred(Vec<Action>),
    /// This replica leads, or no longer does.
    Leads(bool),
    Tick,
}

/// Something is to be done. Actions of one answer are to be done in their order.
#[derive(Clone, Debug)]
pub enum Action {
    /// Read from Azure, then give [`Input::Observed`].
    Read(Read),
    /// Read a list from Azure, then give [`Input::Swept`].
    Sweep(Sweep),
    /// Read the certificate signing requests of a node, then give [`Input::Inspected`].
    Inspect { uid: Arc<str>, node: String },
    /// Add to the record. Idempotent; whoever does it may try again.
    Record(Box<Entry>),
    /// Create an event. Idempotent; whoever does it may try again.
    Event(Event),
    /// Patch a claim's status, then give the claim that was answered, and [`Input::Patched`] after it.
    Patch { uid: Arc<str>, name: String, body: Value, kind: patch::Kind },
    /// Read a claim again, then give [`Input::Claim`] or [`Input::ClaimGone`].
    Reread { uid: Arc<str>, name: String },
    /// Count and log a verdict.
    Tell(Box<Told>),
    /// Log that a Node has had no providerID for too long.
    NodeFinding(Node),
    /// Count that an image fails while others do not.
    ImageFails { image: String, cause: String },
}

impl Action {
    /// Returns true for writes to the API server.
    pub(crate) fn is_write(&self) -> bool {
        matches!(self, Self::Record(_) | Self::Event(_) | Self::Patch { .. })
    }
}

/// A verdict to count and log.
#[derive(Clone, Debug)]
pub struct Told {
    pub claim: Claim,
    pub verdict: Verdict,
    /// Seconds since the launch, where that is known.
    pub after_seconds: Option<i64>,
}

/// A read of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    pub uid: Arc<str>,
    pub target: Target,
    pub priority: Priority,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A VM with its instance view.
    Vm(VmId),
    Machine(MachineId),
}

/// A read of many things.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sweep {
    /// The state of all bootstrap extensions in a resource group, by Resource Graph.
    Extensions { subscription: Arc<str>, group: Arc<str> },
    /// All machines of an AKS pool.
    Machines {
        /// The pool's resource id.
        pool: Arc<str>,
    },
}

/// What a sweep showed. One that failed shows nothing, and the next comes anyway.
#[derive(Clone, Debug)]
pub enum Swept {
    /// Extensions by the VM's name.
    Extensions {
        group: Arc<str>,
        /// The VM's name in lower case, and where its bootstrap is.
        rows: HashMap<String, Progress>,
    },
    Machines {
        /// The pool's resource id.
        pool: Arc<str>,
        machines: Vec<MachineSeen>,
    },
}

/// What was left out, so that a bound shows when it is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Deleted `NodeClaim`s that were dropped unexplained, above the limit.
    pub deleted: u64,
    /// Events about `NodeClaim`s that were not seen, above the limit.
    pub events: u64,
    /// Writes that found the write queue full, above the limit.
    pub writes: u64,
}

/// Everything that the controller knows.
#[derive(Debug)]
pub struct State {
    settings: Settings,
    leads: bool,
    claims: HashMap<Arc<str>, Tracked>,
    /// Deleted `NodeClaim`s that are not explained yet, the first deleted first.
    deleted: BTreeSet<(Timestamp, Arc<str>)>,
    queue: Queue,
    /// Reads that events ask for. Never in place of one in `queue`.
    event_queue: Queue,
    event_share: Share,
    /// Claims whose patch is to be tried again.
    rewrites: BTreeSet<(Timestamp, Arc<str>)>,
    share: Share,
    swept_at: Option<Timestamp>,
    /// Uids of pools and node classes, which events name.
    objects: HashMap<(Kind, String), String>,
    /// Failures in the record, by the claim's uid.
    recorded: HashMap<String, Recorded>,
    /// Entries that were read and whose other writes may be missing.
    unfinished: Vec<Entry>,
    /// Events about `NodeClaim`s that were not seen yet: the two watches are not in step.
    early_events: VecDeque<ProvisioningError>,
    fleet: FleetWatch,
    /// Where an image fails: the claim's node class and pool.
    fleet_places: HashMap<String, (String, String)>,
    fleet_changed: bool,
    dropped: Dropped,
    deferred: deferred::Deferred,
    /// Nodes that Karpenter cannot register.
    nodes: nodes::Nodes,
}

impl State {
    /// Knows nothing yet and does not lead.
    #[must_use]
    pub fn new(settings: Settings, now: Timestamp) -> Self {
        Self {
            settings,
            leads: false,
            claims: HashMap::new(),
            deleted: BTreeSet::new(),
            queue: Queue::default(),
            event_queue: Queue::default(),
            event_share: Share::for_events(now),
            rewrites: BTreeSet::new(),
            share: Share::new(now),
            swept_at: None,
            objects: HashMap::new(),
            recorded: HashMap::new(),
            unfinished: Vec::new(),
            early_events: VecDeque::new(),
            fleet: FleetWatch::default(),
            fleet_places: HashMap::new(),
            fleet_changed: false,
            dropped: Dropped::default(),
            deferred: deferred::Deferred::default(),
            nodes: nodes::Nodes::default(),
        }
    }

    /// Takes an input and says what is to be done.
    pub fn handle(&mut self, input: Input, now: Timestamp) -> Vec<Action> {
        let mut actions = Vec::new();
        match input {
            // Asked for in a term that is over.
            Input::Observed { .. }
            | Input::Swept(_)
            | Input::Inspected { .. }
            | Input::Patched { .. }
            | Input::Deferred(_)
                if !self.leads => {}
            Input::Claim(claim) => self.see(*claim, now, &mut actions),
            Input::ClaimGone(uid) => self.lose(&uid, now, &mut actions),
            Input::Listed(uids) => self.listed(&uids, now, &mut actions),
            Input::Object { kind, name, uid } => {
                self.objects.insert((kind, name), uid);
            }
            Input::Node(node) => self.nodes.add(node),
            Input::NodeGone { name, uid } => self.nodes.remove(&name, &uid),
            Input::Nodes(nodes) => self.nodes.replace(nodes),
            Input::GivenUp(event) => self.given_up(event, now, &mut actions),
            Input::Record(document) => self.recall(&document),
            Input::Observed { uid, observation } => {
                self.observe(&uid, &observation, now, &mut actions);
            }
            Input::Swept(swept) => self.sweep(&swept, now, &mut actions),
            Input::Inspected { uid, request } => self.inspected(&uid, request, now, &mut actions),
            Input::Patched { uid, answer } => self.patched(&uid, answer, now, &mut actions),
            Input::Deferred(writes) => self.deferred.take_back(writes, now),
            Input::Leads(leads) => self.lead(leads, now, &mut actions),
            Input::Tick => {}
        }
        self.forget_deleted(now);
        self.report_nodes(now, &mut actions);
        self.plan(now, &mut actions);
        self.deferred.line_up(&mut actions, now);
        actions
    }

    /// When to call with [`Input::Tick`], if nothing else happens before.
    pub fn wake_at(&self, now: Timestamp) -> Option<Timestamp> {
        if !self.leads {
            return None;
        }
        let soon = now.saturating_add(SignedDuration::from_millis(200)).ok();
        let budget = soon.filter(|_| self.is_held_back());
        let event_budget = soon.filter(|_| self.event_queue.waiting() > 0);
        let event = self.event_queue.next_at();
        let rewrite = self.rewrites.first().map(|(at, _)| *at);
        let node = self.nodes.next_at();
        let (sweep, write) = (self.next_sweep(now), self.deferred.next_at());
        [self.queue.next_at(), rewrite, budget, event, event_budget, sweep, node, write]
            .into_iter()
            .flatten()
            .min()
    }

    /// How much there is to do.
    pub fn lengths(&self) -> Lengths {
        Lengths {
            claims: self.claims.len(),
            pending: self.queue.len(),
            waiting: self.queue.waiting(),
            nodes_without_provider_id: self.nodes.reported(),
        }
    }

    /// What was left out.
    pub fn dropped(&self) -> Dropped {
        Dropped { writes: self.dropped.writes + self.deferred.lost(), ..self.dropped }
    }

    /// Bytes kept for each claim, table included, shared texts excluded.
    pub fn bytes_per_claim(&self) -> usize {
        // A table keeps a byte of its own for each place, and fills at most 7 of 8 places.
        let place = size_of::<(Arc<str>, Tracked)>() + 1;
        let own: usize = self.claims.values().map(Tracked::heap).sum();
        (self.claims.capacity() * 8 / 7 * place + own) / self.claims.len().max(1)
    }
}
