//! A model of the parts of Azure that Mooring touches.
//!
//! One value, [`Azure`]: it is given a request and the time, and answers as Azure Resource Manager would. It
//! holds one subscription with one AKS cluster. Everything that happens by itself (operations, booting
//! machines, bootstraps, the retries of a wedged scale set) is on an agenda, and happens when
//! [`Azure::settle`] or [`Azure::handle`] is given a later time.
//!
//! ```text
//! request ──▶ faults ──▶ gate (token, api-version, buckets, rights) ──▶ route ──▶ clusters, pools, compute …
//!                                                                                   │
//! later ────▶ settle ──▶ agenda ──▶ operations end, machines boot, nodes join ◀──────┘
//! ```
//!
//! | module | idea |
//! |---|---|
//! | `path`, `call`, `error`, `versions` | a request taken apart, an answer put together |
//! | `route` | which call is answered where |
//! | `store`, `world`, `history` | resources as raw JSON, everything around them, and older states of it |
//! | `agenda`, `operations`, `progress` | what will happen, long-running operations, and time passing |
//! | `clusters`, `pools`, `pool_rules`, `scale_sets` | AKS |
//! | `compute`, `machines`, `provision`, `extensions`, `cse`, `nodes` | machines, their bootstrap, and the nodes that they become |
//! | `node_shell` | the script of a run command, in a real and restricted shell |
//! | `bootstraps` | the door for bootstraps that run outside the model |
//! | `wedge` | the fault for which the repair exists |
//! | `activity`, `graph`, `tags` | the log, the query, the tags |
//! | `access`, `roles`, `deny_assignments`, `linked`, `locks` | who may, and what is locked |
//! | `throttle`, `sign_in` | how often, and who is it |
//! | `admin`, `changes` | what a test does to the world, and what the cluster's API hears of it |

mod access;
mod activity;
mod admin;
mod agenda;
mod bootstraps;
mod call;
mod changes;
mod clusters;
mod compute;
mod cse;
mod cse_report;
mod deny_assignments;
mod error;
mod extensions;
mod foreign;
mod gate;
mod graph;
mod history;
mod linked;
mod locks;
mod machines;
mod neighbours;
mod node_shell;
mod nodes;
mod operations;
mod options;
mod path;
mod pool_body;
mod pool_members;
mod pool_rules;
mod pools;
mod progress;
mod provision;
mod reply;
mod roles;
mod route;
mod scale_sets;
mod sign_in;
mod store;
mod tags;
mod throttle;
mod versions;
mod wedge;
mod world;

use jiff::{SignedDuration, Timestamp};

pub use activity::Entry;
pub use admin::NewVm;
pub use changes::{Change, Node, Vm};
pub use clusters::AKS_SERVER;
pub use cse::{Cse, Guest, Join, Printed};
pub use deny_assignments::DenyAssignment;
pub use foreign::ForeignExtension;
pub use locks::{Lock, LockLevel};
pub use options::{DeletingView, KubernetesAccess, Options, Rights};
pub use provision::Mode;
pub use roles::{Assignment, Denial};
pub use throttle::{Limit, Limits};
pub use wedge::Correlation;

use crate::faults::Faults;
use crate::random::Random;
use crate::trace::Trace;

pub(crate) use machines::Life;
pub(crate) use neighbours::{lower_group, room};
pub(crate) use path::query;
pub(crate) use provision::{Image, image_of};
pub(crate) use world::earlier;

/// Simulated Azure.
#[derive(Debug, Clone)]
pub struct Azure {
    seed: u64,
    world: world::World,
    faults: Faults,
    buckets: throttle::Buckets,
    history: history::History,
    trace: Trace,
    /// Ids of requests, apart from the world's, so that a refused call does not shift what comes.
    ids: Random,
    /// How far the model's clock is off, by fault rules.
    clock: SignedDuration,
}

impl Azure {
    /// An Azure with nothing in it. Scenarios fill it.
    #[must_use]
    pub fn new(seed: u64, start: Timestamp, options: Options) -> Self {
        let random = Random::new(seed);
        let mut trace = Trace::keeping(options.trace_lines);
        trace.record(start, format_args!("seed {seed} speed {}", options.speed));
        Self {
            seed,
            world: world::World::new(options, &random),
            faults: Faults::new(Vec::new(), &random, start),
            buckets: throttle::Buckets::default(),
            history: history::History::default(),
            trace,
            ids: random.fork("requests"),
            clock: SignedDuration::ZERO,
        }
    }

    /// The same world once more, with another seed for all that comes: what a scenario built need not be built
    /// again for every run.
    #[must_use]
    pub fn again(&self, seed: u64, start: Timestamp) -> Self {
        let random = Random::new(seed);
        let mut azure = self.clone();
        azure.seed = seed;
        azure.world.random = random.fork("world");
        azure.faults.reseed(&random);
        azure.ids = random.fork("requests");
        azure.trace.record(start, format_args!("seed {seed} from here on"));
        azure
    }

    /// Lets everything happen that is due by `now`.
    pub fn settle(&mut self, now: Timestamp) {
        self.world.settle(self.model_time(now));
    }

    /// When something happens next by itself.
    #[must_use]
    pub fn next_change(&self) -> Option<Timestamp> {
        let at = self.world.agenda.next()?;
        Some(at.saturating_sub(self.clock).unwrap_or(at))
    }

    /// What happened since the last call that the cluster's API would see, in order.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.world.changes)
    }

    /// What has been asked and answered, with the seed and every rule: enough to replay a run.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The names, limits and speed of this run.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.world.options
    }

    /// A token as the sign-in endpoint gives it, for clients in process.
    #[must_use]
    pub fn token(&self, audience: &str, now: Timestamp) -> String {
        let options = &self.world.options;
        sign_in::token(options, audience, &options.endpoint, self.model_time(now))
    }

    /// A token of Karpenter's own identity.
    pub(crate) fn karpenter_token(&self, now: Timestamp) -> String {
        let options = &self.world.options;
        let (who, audience) = (&options.karpenter_principal, &options.endpoint);
        sign_in::token_of(options, who, audience, audience, self.model_time(now))
    }

    fn model_time(&self, now: Timestamp) -> Timestamp {
        now.saturating_add(self.clock).unwrap_or(now)
    }
}
