use std::sync::{Arc, Mutex, PoisonError};

use mooring_k8s::{Clock, Times};
use mooring_nodes::claim::object::ClaimFields;
use mooring_nodes::claim::vm_id::Interner;
use mooring_nodes::claim::{Claim, ClaimError};
use mooring_nodes::record::RecordDocument;
use mooring_nodes::record::counts::StoredCounts;
use tokio::sync::oneshot;

use crate::metrics::{ArmSnapshot, Metrics};
use crate::run::health::Health;
use crate::settings::Settings;
use crate::state::{Input, QueueLengths, State};

#[derive(Clone)]
pub struct Controller {
    /// Must not retry requests: writes are counted, and conflicts matter.
    pub kube: kube::Client,
    /// Limited by [`crate::schedule::controller_limits`].
    pub arm: mooring_arm::Client,
    pub clock: Clock,
    pub settings: Settings,
    /// Namespace of the Lease and the record.
    pub namespace: String,
    pub times: Times,
    pub metrics: Arc<Metrics>,
    pub health: Arc<Health>,
}

pub(crate) enum ControllerMessage {
    Input(Input),
    /// This replica acquired the Lease and then read the record and the counts.
    Elected {
        term: u64,
        record: RecordDocument,
        counts: StoredCounts,
    },
    Deposed,
}

/// Converts objects to NodeClaims with shared texts.
pub(crate) struct Projector {
    condition_type: String,
    interner: Mutex<Interner>,
}

impl Projector {
    pub(super) fn new(condition_type: &str) -> Self {
        Self { condition_type: condition_type.to_owned(), interner: Mutex::default() }
    }

    fn interner(&self) -> std::sync::MutexGuard<'_, Interner> {
        self.interner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn text(&self, json: &str) -> Result<Claim, ClaimError> {
        Claim::from_json(json.as_bytes(), &self.condition_type, &mut self.interner())
    }

    pub(crate) fn object(&self, object: ClaimFields) -> Result<Claim, ClaimError> {
        object.project(&self.condition_type, &mut self.interner())
    }
}

/// The state at one time.
#[derive(Clone, Debug)]
pub struct StateView {
    /// Grows with every change.
    pub generation: u64,
    pub leads: bool,
    /// None before their first list.
    pub claims: Option<Vec<Arc<Claim>>>,
    pub lengths: QueueLengths,
    pub arm: ArmSnapshot,
}

/// A request for a view that is newer than the last one.
#[derive(Debug)]
pub struct ViewRequest {
    /// Generation of the last view, or 0.
    pub seen: u64,
    /// Receives none if nothing changed.
    pub reply: oneshot::Sender<Option<StateView>>,
}

impl ViewRequest {
    pub(super) fn answer(self, state: &State, generation: u64, controller: &Controller) {
        let view = (generation != self.seen).then(|| StateView {
            generation,
            leads: state.leads(),
            claims: state.existing_claims(),
            lengths: state.lengths(),
            arm: snapshot(&controller.arm),
        });
        // The page may be closed.
        let _ = self.reply.send(view);
    }
}

pub(super) fn snapshot(arm: &mooring_arm::Client) -> ArmSnapshot {
    let metrics = arm.metrics();
    let reads = metrics.buckets.iter().find(|bucket| bucket.bucket == "reads");
    ArmSnapshot {
        requests: metrics.requests.values().sum(),
        throttled: metrics.throttled,
        budget_left: reads.map_or(0.0, |bucket| f64::from(bucket.left)),
    }
}
