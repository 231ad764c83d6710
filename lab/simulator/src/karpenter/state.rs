//! State and plans of Karpenter. A restart loses most of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;

use super::cache::Cache;
use super::claim::conditions::Conditions;
use super::claim::disruption::Blocked;
use super::claim::transitions::Transitions;
use super::options::KarpenterOptions;
use super::pools::Pools;
use crate::azure::{Azure, Cse, later};
use crate::random::Random;

pub struct Karpenter {
    pub(super) options: KarpenterOptions,
    pub(super) started: Timestamp,
    pub(super) speed: f64,
    pub(super) random: Random,
    pub(super) cache: Cache,
    pub(super) transitions: Transitions,
    pub(super) blocked: Blocked,
    pub(super) pools: Pools,
    /// All Nodes of its NodePools are known. It provisions nothing before.
    pub(super) synced: bool,
    pub(super) claims: BTreeMap<String, KarpenterClaim>,
    pub(super) agenda: BTreeMap<(Timestamp, u64), (String, ClaimStep)>,
    pub(super) planned: u64,
    /// The same steps, ordered by NodeClaim.
    pub(super) pending: BTreeSet<(String, ClaimStep)>,
    pub(super) cse_by_claim: BTreeMap<String, Cse>,
    pub(super) replaced: u32,
    /// No step runs until it is started again.
    pub(super) stopped: bool,
}

#[derive(Debug, Clone)]
pub(super) struct KarpenterClaim {
    pub(super) uid: String,
    pub(super) conditions: Conditions,
    /// Id of the VM, once launched.
    pub(super) machine: Option<String>,
    /// Name of the node, once registered.
    pub(super) node: Option<String>,
    /// A poller creates the extensions and waits for their end. A restart loses it.
    pub(super) awaited: bool,
    /// The bootstrap failed: the NodeClaim is deleted after its VM.
    pub(super) failed: bool,
    /// The NodeClaim is being deleted.
    pub(super) ending: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ClaimStep {
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
    pub fn new(options: KarpenterOptions, seed: u64, now: Timestamp, azure: &Azure) -> Self {
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
}

/// Timeouts of registration and launch, and the interval at which VMs are polled.
pub(super) const REGISTRATION: u64 = 15 * 60;
pub(super) const LAUNCH: u64 = 5 * 60;
pub(super) const POLL: u64 = 3;
/// Intervals for a NodeClaim that is being deleted, and for one with several Nodes.
pub(super) const FINALIZE_POLL: u64 = 5;

impl Karpenter {
    /// Plans a step after so many seconds, scaled. A planned step keeps its time.
    pub(super) fn plan(&mut self, claim: &str, step: ClaimStep, seconds: u64, now: Timestamp) {
        self.plan_at(claim, step, self.after(now, seconds));
    }

    pub(super) fn plan_at(&mut self, claim: &str, step: ClaimStep, at: Timestamp) {
        if !self.pending.insert((claim.to_owned(), step.clone())) {
            return;
        }
        self.planned += 1;
        self.agenda.insert((at, self.planned), (claim.to_owned(), step));
    }

    /// Drops the steps of a deleted NodeClaim, except for its replacement.
    pub(super) fn forget_steps(&mut self, claim: &str) {
        let stays = |name: &str, step: &ClaimStep| name != claim || *step == ClaimStep::Replace;
        self.agenda.retain(|_, (name, step)| stays(name, step));
        self.pending.retain(|(name, step)| stays(name, step));
    }

    pub(super) fn after(&self, now: Timestamp, seconds: u64) -> Timestamp {
        later(now, Duration::from_secs(seconds).div_f64(self.speed))
    }
}
