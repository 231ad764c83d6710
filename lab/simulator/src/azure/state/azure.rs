use jiff::{SignedDuration, Timestamp};

use super::azure_state::AzureState;
use super::history::StateHistory;
use super::limits::Buckets;
use super::options::AzureOptions;
use crate::faults::Faults;
use crate::random::Random;
use crate::trace::Trace;

#[derive(Debug, Clone)]
pub struct Azure {
    pub(crate) seed: u64,
    pub(crate) state: AzureState,
    pub(crate) faults: Faults,
    pub(crate) buckets: Buckets,
    pub(crate) history: StateHistory,
    pub(crate) trace: Trace,
    /// Separate generator for request ids, so that a rejected call does not shift later results.
    pub(crate) ids: Random,
    /// Clock offset, set by fault rules.
    pub(crate) clock: SignedDuration,
}

impl Azure {
    /// Returns an empty Azure. Scenarios fill it.
    pub fn new(seed: u64, start: Timestamp, options: AzureOptions) -> Self {
        let random = Random::new(seed);
        let mut trace = Trace::keeping(options.trace_lines);
        trace.record(start, format_args!("seed {seed} speed {}", options.speed));
        Self {
            seed,
            state: AzureState::new(options, &random),
            faults: Faults::new(Vec::new(), &random, start),
            buckets: Buckets::default(),
            history: StateHistory::default(),
            trace,
            ids: random.fork("requests"),
            clock: SignedDuration::ZERO,
        }
    }

    /// Returns a copy with another seed, so that a scenario need not be built again for every run.
    #[must_use]
    pub fn with_seed(&self, seed: u64, start: Timestamp) -> Self {
        let random = Random::new(seed);
        let mut azure = self.clone();
        azure.seed = seed;
        azure.state.random = random.fork("world");
        azure.faults.reseed(&random);
        azure.ids = random.fork("requests");
        azure.trace.record(start, format_args!("seed {seed} from here on"));
        azure
    }
}
