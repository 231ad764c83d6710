//! Copies of the state for the live page. No request causes a read of Azure.

use std::sync::Arc;

use mooring_nodes::claim::Claim;
use tokio::sync::oneshot;

use super::controller::Controller;
use crate::metrics::ArmSnapshot;
use crate::state::{QueueLengths, State};

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
