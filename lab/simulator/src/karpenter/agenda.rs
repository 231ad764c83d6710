//! Planned steps of NodeClaims.

use std::time::Duration;

use jiff::Timestamp;

use super::state::{ClaimStep, Karpenter};
use crate::azure::later;

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
