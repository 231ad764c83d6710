//! What the controller is made of.

use std::sync::{Arc, Mutex, PoisonError};

use mooring_kube::{Clock, Times};

use super::health::Health;
use super::seen;
use crate::claim::intern::Interner;
use crate::claim::{Claim, NotAClaim};
use crate::metrics::Metrics;
use crate::record::Document;
use crate::settings::Settings;
use crate::state::Input;

/// A controller, ready to run.
#[derive(Clone)]
pub struct Controller {
    /// The API server. Must not repeat requests by itself: writes are counted, and conflicts matter.
    pub kube: kube::Client,
    /// Azure, within [`crate::schedule::share::ours`].
    pub arm: mooring_arm::Client,
    pub clock: Clock,
    pub settings: Settings,
    /// Where the Lease and the record are.
    pub namespace: String,
    pub times: Times,
    pub metrics: Arc<Metrics>,
    /// What `/healthz` and `/readyz` say.
    pub health: Arc<Health>,
}

pub(crate) enum Message {
    Input(Input),
    /// This replica leads, and the record is as it was read then.
    Elected {
        term: u64,
        record: Document,
    },
    /// It no longer does.
    Deposed,
}

/// From objects to claims, with texts that are shared by all.
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

    pub(crate) fn text(&self, json: &str) -> Result<Claim, NotAClaim> {
        Claim::from_json(json.as_bytes(), &self.condition_type, &mut self.interner())
    }

    pub(crate) fn seen(&self, seen: seen::SeenClaim) -> Result<Claim, NotAClaim> {
        seen.into_object().project(&self.condition_type, &mut self.interner())
    }
}
