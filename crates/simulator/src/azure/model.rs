//! Time, trace and tokens of simulated Azure.

use jiff::Timestamp;

use crate::azure::api::access::sign_in;
use crate::azure::state::{Azure, Change, Options};
use crate::trace::Trace;

impl Azure {
    /// Lets everything happen that is due by `now`.
    pub fn settle(&mut self, now: Timestamp) {
        self.state.settle(self.model_time(now));
    }

    pub fn next_change(&self) -> Option<Timestamp> {
        let at = self.state.agenda.next()?;
        Some(at.saturating_sub(self.clock).unwrap_or(at))
    }

    /// What happened since the last call that the cluster's API would see, in order.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.state.changes)
    }

    /// What has been asked and answered, with the seed and every rule: enough to replay a run.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The names, limits and speed of this run.
    pub fn options(&self) -> &Options {
        &self.state.options
    }

    /// A token as the sign-in endpoint gives it, for clients in process.
    pub fn token(&self, audience: &str, now: Timestamp) -> String {
        let options = &self.state.options;
        sign_in::token(options, audience, &options.endpoint, self.model_time(now))
    }

    /// A token of Karpenter's own identity.
    pub(crate) fn karpenter_token(&self, now: Timestamp) -> String {
        let options = &self.state.options;
        let (who, audience) = (&options.karpenter_principal, &options.endpoint);
        sign_in::token_of(options, who, audience, audience, self.model_time(now))
    }

    pub(crate) fn model_time(&self, now: Timestamp) -> Timestamp {
        now.saturating_add(self.clock).unwrap_or(now)
    }
}
