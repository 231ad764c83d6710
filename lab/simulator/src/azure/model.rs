//! Time, trace and tokens of simulated Azure.

use jiff::Timestamp;

use crate::azure::api::access::sign_in;
use crate::azure::state::{Azure, AzureChange, AzureOptions};
use crate::replay::trace::Trace;

impl Azure {
    /// Applies every event that is due by `now`.
    pub fn settle(&mut self, now: Timestamp) {
        self.state.settle(self.model_time(now));
    }

    pub fn next_change(&self) -> Option<Timestamp> {
        let at = self.state.events.next()?;
        Some(at.saturating_sub(self.clock).unwrap_or(at))
    }

    /// Returns the changes since the last call that the cluster's API would see, in order.
    pub fn take_changes(&mut self) -> Vec<AzureChange> {
        std::mem::take(&mut self.state.changes)
    }

    /// Requests and responses with the seed and every rule: enough to replay a run.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    pub fn options(&self) -> &AzureOptions {
        &self.state.options
    }

    pub fn token(&self, audience: &str, now: Timestamp) -> String {
        let options = &self.state.options;
        let now = self.model_time(now);
        sign_in::token(options, &options.principal, audience, &options.endpoint, now)
    }

    pub(crate) fn karpenter_token(&self, now: Timestamp) -> String {
        let options = &self.state.options;
        let (who, audience) = (&options.karpenter_principal, &options.endpoint);
        sign_in::token(options, who, audience, audience, self.model_time(now))
    }

    pub(crate) fn model_time(&self, now: Timestamp) -> Timestamp {
        now.saturating_add(self.clock).unwrap_or(now)
    }
}
