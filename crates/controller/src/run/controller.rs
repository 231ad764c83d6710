use std::sync::{Arc, Mutex, PoisonError};

use mooring_k8s::{Clock, Times};
use mooring_nodes::claim::intern::Interner;
use mooring_nodes::claim::object::ClaimFields;
use mooring_nodes::claim::{Claim, ClaimError};
use mooring_nodes::record::RecordDocument;
use mooring_nodes::record::counts::StoredCounts;

use super::health::Health;
use crate::metrics::Metrics;
use crate::settings::Settings;
use crate::state::Input;

#[derive(Clone)]
pub struct Controller {
    /// Must not retry requests: writes are counted, and conflicts matter.
    pub kube: kube::Client,
    /// Limited by [`crate::schedule::rate_limit::controller_limits`].
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
