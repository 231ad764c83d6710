//! The state, and what it does with an input.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::deferred::Deferred;
use super::messages::{Action, Dropped, Input, Lengths};
use super::nodes::Nodes;
use super::tracked::{Recorded, Tracked};
use crate::fleet::FleetWatch;
use crate::observation::karpenter::ProvisioningError;
use crate::record::Entry;
use crate::schedule::Queue;
use crate::schedule::share::Share;
use crate::settings::Settings;
use crate::verdict::event::Kind;

/// Everything that the controller knows.
#[derive(Debug)]
pub struct State {
    pub(super) settings: Settings,
    pub(super) leads: bool,
    pub(super) claims: HashMap<Arc<str>, Tracked>,
    /// Deleted `NodeClaim`s that are not explained yet, the first deleted first.
    pub(super) deleted: BTreeSet<(Timestamp, Arc<str>)>,
    pub(super) queue: Queue,
    /// Reads that events ask for. Never in place of one in `queue`.
    pub(super) event_queue: Queue,
    pub(super) event_share: Share,
    /// Claims whose patch is to be tried again.
    pub(super) rewrites: BTreeSet<(Timestamp, Arc<str>)>,
    pub(super) share: Share,
    pub(super) swept_at: Option<Timestamp>,
    /// Uids of pools and node classes, which events name.
    pub(super) objects: HashMap<(Kind, String), String>,
    /// Failures in the record, by the claim's uid.
    pub(super) recorded: HashMap<String, Recorded>,
    /// Entries that were read and whose other writes may be missing.
    pub(super) unfinished: Vec<Entry>,
    /// Events about `NodeClaim`s that were not seen yet: the two watches are not in step.
    pub(super) early_events: VecDeque<ProvisioningError>,
    pub(super) fleet: FleetWatch,
    /// Where an image fails: the claim's node class and pool.
    pub(super) fleet_places: HashMap<String, (String, String)>,
    pub(super) fleet_changed: bool,
    pub(super) dropped: Dropped,
    pub(super) deferred: Deferred,
    /// Nodes that Karpenter cannot register.
    pub(super) nodes: Nodes,
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
            deferred: Deferred::default(),
            nodes: Nodes::default(),
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

    pub fn lengths(&self) -> Lengths {
        Lengths {
            claims: self.claims.len(),
            pending: self.queue.len(),
            waiting: self.queue.waiting(),
            nodes_without_provider_id: self.nodes.reported(),
        }
    }

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
