//! A model of Karpenter's node lifecycle, with the behavior that affects other clients.
//!
//! It launches VMs for `NodeClaim`s and creates their extensions by pollers that a restart loses, writes their
//! conditions by merge patches without a resourceVersion from a cache that may be stale, reports a failed bootstrap
//! extension in an event whose text is cut before the exit code, deletes the VM and then the NodeClaim, and deletes a
//! NodeClaim that has not registered in fifteen minutes, without an event.
//!
//! It is a regular client of the two APIs: the API's record has its writes, under the name `karpenter`.

mod cache;
mod client;
mod conditions;
mod disruption;
mod event;
mod launching;
mod machine;
mod objects;
mod options;
mod pools;
mod steps;
mod transitions;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

pub use crate::azure::Mode;
pub use options::{LaunchFailure, Options};

pub(crate) use conditions::Conditions;
pub(crate) use objects::{claim, status};

use self::cache::Cache;
use self::disruption::Blocked;
use self::pools::Pools;
use self::transitions::Transitions;
use crate::azure::{Azure, Change, Cse};
use crate::kubernetes::Kubernetes;
use crate::replay::random::Random;

/// Timeouts of registration and launch, and the interval at which VMs are polled.
const REGISTRATION: u64 = 15 * 60;
const LAUNCH: u64 = 5 * 60;
const POLL: u64 = 3;
/// Intervals for a NodeClaim that is being deleted, and for one with several Nodes.
const FINALIZE_POLL: u64 = 5;

pub struct Karpenter {
    options: Options,
    started: Timestamp,
    speed: f64,
    random: Random,
    cache: Cache,
    transitions: Transitions,
    blocked: Blocked,
    pools: Pools,
    /// All Nodes of its NodePools are known. It provisions nothing before.
    synced: bool,
    claims: BTreeMap<String, Claim>,
    agenda: BTreeMap<(Timestamp, u64), (String, Step)>,
    planned: u64,
    /// The same steps, ordered by NodeClaim.
    pending: BTreeSet<(String, Step)>,
    cse_by_claim: BTreeMap<String, Cse>,
    replaced: u32,
    /// No step runs until it is started again.
    stopped: bool,
}

#[derive(Debug, Clone)]
struct Claim {
    uid: String,
    conditions: Conditions,
    /// Id of the VM, once launched.
    machine: Option<String>,
    /// Name of the node, once registered.
    node: Option<String>,
    /// A poller creates the extensions and waits for their end. A restart loses it.
    awaited: bool,
    /// The bootstrap failed: the NodeClaim is deleted after its VM.
    failed: bool,
    /// The NodeClaim is being deleted.
    ending: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Launch,
    CreateExtensions,
    /// Report that the bootstrap failed, and start the cleanup.
    Announce {
        message: String,
    },
    DeleteMachine,
    /// Delete the NodeClaim after its VM.
    DeleteClaim,
    /// The node has appeared.
    Register,
    /// The node is Ready.
    Initialize,
    /// Delete the NodeClaim if it has not launched.
    CheckLaunch,
    /// Delete the NodeClaim if it has not registered.
    CheckLiveness,
    /// Report that it cannot be disrupted while it has no node.
    CheckDisruption,
    /// Remove the finalizer of a deleted NodeClaim once no VM exists.
    Finalize,
    Replace,
}

impl Karpenter {
    /// Returns a Karpenter that starts now with an empty cache.
    pub fn new(options: Options, seed: u64, now: Timestamp, azure: &Azure) -> Self {
        Self {
            options,
            started: now,
            speed: azure.options().speed.max(f64::MIN_POSITIVE),
            random: Random::new(seed).fork("karpenter"),
            cache: Cache::default(),
            transitions: Transitions::default(),
            blocked: Blocked::default(),
            pools: Pools::default(),
            synced: true,
            claims: BTreeMap::new(),
            agenda: BTreeMap::new(),
            planned: 0,
            pending: BTreeSet::new(),
            cse_by_claim: BTreeMap::new(),
            replaced: 0,
            stopped: false,
        }
    }

    /// Sets the bootstrap of one NodeClaim's VM, regardless of its image.
    pub fn set_cse(&mut self, claim: &str, cse: Cse) {
        self.cse_by_claim.insert(claim.to_owned(), cse);
    }

    pub fn roll_image(&mut self, image_version: &str) {
        image_version.clone_into(&mut self.options.image_version);
    }

    pub(crate) fn set_speed(&mut self, speed: f64) {
        self.speed = speed.max(f64::MIN_POSITIVE);
    }

    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    pub(crate) fn is_running(&self) -> bool {
        !self.stopped
    }

    /// Starts again: no poller waits for bootstraps in progress.
    pub fn restart(&mut self, now: Timestamp) {
        self.stopped = false;
        self.started = now;
        self.agenda.clear();
        self.pending.clear();
        self.claims.clear();
        self.cache = Cache::default();
        self.transitions = Transitions::default();
        self.blocked = Blocked::default();
        self.pools = Pools::default();
        self.synced = false;
    }

    /// Runs the steps that are due. Returns true if there were any.
    pub fn settle(
        &mut self,
        azure: &mut Azure,
        kubernetes: &mut Kubernetes,
        now: Timestamp,
    ) -> bool {
        if self.stopped {
            return false;
        }
        let mut acted = self.read_claims(azure, kubernetes, now);
        for event in self.transitions.take_events() {
            client::create(kubernetes, event::EVENTS, &event, now);
        }
        while let Some(first) = self.agenda.first_entry().filter(|entry| entry.key().0 <= now) {
            let (name, step) = first.remove();
            self.pending.remove(&(name.clone(), step.clone()));
            self.take(&name, step, azure, kubernetes, now);
            acted = true;
        }
        acted
    }

    pub fn next_change(&self) -> Option<Timestamp> {
        self.agenda.keys().next().map(|(at, _)| *at).filter(|_| !self.stopped)
    }

    /// Plans the steps that follow from a change in Azure.
    pub(crate) fn handle_change(&mut self, change: &Change, now: Timestamp) {
        if self.stopped {
            return;
        }
        match change {
            Change::VmRuns(vm) if self.claims.get(&vm.claim).is_some_and(|claim| claim.awaited) => {
                self.plan(&vm.claim, Step::CreateExtensions, POLL, now);
            }
            Change::CseEnded { vm, exit_code, message }
                if *exit_code != 0
                    && self.claims.get(&vm.claim).is_some_and(|claim| claim.awaited) =>
            {
                self.plan(&vm.claim, Step::Announce { message: message.clone() }, POLL, now);
            }
            Change::VmGone(vm) => match self.claims.get(&vm.claim) {
                Some(claim) if claim.failed && !claim.ending => {
                    self.plan(&vm.claim, Step::DeleteClaim, 1, now);
                }
                _ => {}
            },
            Change::NodeJoined(node) => {
                let Some(name) = &node.claim else { return };
                if let Some(claim) = self.claims.get_mut(name) {
                    claim.node = Some(node.name.clone());
                    self.plan(name, Step::Register, 1, now);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn hear_ready(&mut self, node: &str, now: Timestamp) {
        if self.stopped {
            return;
        }
        let found = self.claims.iter().find(|(_, claim)| claim.node.as_deref() == Some(node));
        if let Some(name) = found.map(|(name, _)| name.clone()) {
            self.plan(&name, Step::Initialize, 1, now);
        }
    }

    /// Plans a step after so many seconds, scaled. A planned step keeps its time.
    fn plan(&mut self, claim: &str, step: Step, seconds: u64, now: Timestamp) {
        self.plan_at(claim, step, self.after(now, seconds));
    }

    fn plan_at(&mut self, claim: &str, step: Step, at: Timestamp) {
        if !self.pending.insert((claim.to_owned(), step.clone())) {
            return;
        }
        self.planned += 1;
        self.agenda.insert((at, self.planned), (claim.to_owned(), step));
    }

    /// Drops the steps of a deleted NodeClaim, except for its replacement.
    fn forget_steps(&mut self, claim: &str) {
        let stays = |name: &str, step: &Step| name != claim || *step == Step::Replace;
        self.agenda.retain(|_, (name, step)| stays(name, step));
        self.pending.retain(|(name, step)| stays(name, step));
    }

    fn after(&self, now: Timestamp, seconds: u64) -> Timestamp {
        let wait = std::time::Duration::from_secs(seconds).div_f64(self.speed);
        let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
        now.saturating_add(wait).unwrap_or(Timestamp::MAX)
    }

    /// Reads changed NodeClaims and plans their steps.
    fn read_claims(&mut self, azure: &Azure, kubernetes: &Kubernetes, now: Timestamp) -> bool {
        let news = self.cache.read(kubernetes, now);
        let any = !news.is_empty();
        for name in news {
            match self.cache.newest(&name) {
                Some(object) if objects::is_ours(object) => {
                    let object = object.clone();
                    self.transitions.see(&object, now);
                    self.notice(&name, &object, azure, now);
                }
                Some(_) => {}
                None => {
                    self.claims.remove(&name);
                    self.transitions.forget(&name);
                    self.blocked.forget(&name);
                    self.forget_steps(&name);
                }
            }
        }
        any
    }
}
