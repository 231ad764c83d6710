//! A model of Karpenter's node lifecycle, with its habits that matter to a bystander.
//!
//! It launches machines for `NodeClaim`s and creates their extensions by a promise that a restart loses, writes their
//! conditions by merge patches without a lock from a cache that may be stale, announces a failed bootstrap extension in
//! an event whose text is cut before the exit code, takes the machine away and then the claim, and gives up on a claim
//! that has not registered in fifteen minutes, without a word.
//!
//! It is a client like any other of the two APIs: what it writes is to be seen in the API's record, under the name
//! `karpenter`.

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
use crate::random::Random;

/// How long a claim may take to register and to launch, and how often machines are asked how they are.
const REGISTRATION: u64 = 15 * 60;
const LAUNCH: u64 = 5 * 60;
const POLL: u64 = 3;
/// How often a claim that is being deleted is asked for, and one with more than one Node.
const FINALIZE_POLL: u64 = 5;

/// Karpenter, as far as `NodeClaim`s see it.
pub struct Karpenter {
    options: Options,
    started: Timestamp,
    speed: f64,
    random: Random,
    cache: Cache,
    transitions: Transitions,
    blocked: Blocked,
    pools: Pools,
    /// Whether it knows every Node of its NodePools. It provisions nothing before.
    synced: bool,
    claims: BTreeMap<String, Claim>,
    agenda: BTreeMap<(Timestamp, u64), (String, Step)>,
    planned: u64,
    /// The same steps, to be found by their claim.
    pending: BTreeSet<(String, Step)>,
    fates: BTreeMap<String, Cse>,
    replaced: u32,
    /// Nobody acts until it is started again.
    stopped: bool,
}

/// What Karpenter has in mind for a claim.
#[derive(Debug, Clone)]
struct Claim {
    uid: String,
    conditions: Conditions,
    /// The machine's id in Azure, once it is launched.
    machine: Option<String>,
    /// The node's name, once it is registered.
    node: Option<String>,
    /// The promise: somebody creates the extensions and waits for their end. A restart forgets it.
    awaited: bool,
    /// What went wrong: the claim goes when its machine is gone.
    failed: bool,
    /// The claim is being deleted.
    ending: bool,
}

/// What is to be done for a claim.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Make its machine, and say so.
    Launch,
    /// Create its machine's extensions, as was promised.
    CreateExtensions,
    /// Say that its machine's bootstrap failed, and begin to clean up.
    Announce { message: String },
    /// Take its machine away.
    DeleteMachine,
    /// Delete it, since its machine is gone.
    DeleteClaim,
    /// Its node has appeared.
    Register,
    /// Its node is ready.
    Initialize,
    /// Delete it if it has not launched.
    CheckLaunch,
    /// Delete it if it has not registered.
    CheckLiveness,
    /// Say that it cannot be disrupted while it has no node.
    CheckDisruption,
    /// It is being deleted: let it go as soon as there is no machine.
    Finalize,
    /// Another one takes its place.
    Replace,
}

impl Karpenter {
    /// A Karpenter that starts now, and knows only what it reads.
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
            fates: BTreeMap::new(),
            replaced: 0,
            stopped: false,
        }
    }

    /// How the bootstrap of one claim's machine will go, whatever its image.
    pub fn set_fate(&mut self, claim: &str, cse: Cse) {
        self.fates.insert(claim.to_owned(), cse);
    }

    /// New machines get this image from now on.
    pub fn roll_image(&mut self, image_version: &str) {
        image_version.clone_into(&mut self.options.image_version);
    }

    /// From now on, things happen so much faster than in Azure.
    pub(crate) fn set_speed(&mut self, speed: f64) {
        self.speed = speed.max(f64::MIN_POSITIVE);
    }

    /// It stops: nobody launches, registers or deletes anything.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    pub(crate) fn is_running(&self) -> bool {
        !self.stopped
    }

    /// It starts again: nobody waits any more for bootstraps that are under way.
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

    /// Does what is due. Says whether there was anything.
    pub fn settle(
        &mut self,
        azure: &mut Azure,
        kubernetes: &mut Kubernetes,
        now: Timestamp,
    ) -> bool {
        if self.stopped {
            return false;
        }
        let mut acted = self.look(azure, kubernetes, now);
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

    /// Hears of a change in Azure.
    pub(crate) fn hear(&mut self, change: &Change, now: Timestamp) {
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

    /// Plans a step in so many seconds, scaled. A step that is planned already stays where it is.
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

    /// What was planned for a claim that is gone is not done; another may still take its place.
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

    /// Reads what is new of the claims, and plans what follows from it.
    fn look(&mut self, azure: &Azure, kubernetes: &Kubernetes, now: Timestamp) -> bool {
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
