//! A verdict, and whether it is final.

use jiff::Timestamp;
use mooring_diagnosis::{Diagnosis, Situation};

use crate::claim::Claim;
use crate::verdict::registration::{self, AzureReading, ClusterState, Overdue, RegistrationCause};
use crate::verdict::{ConditionReason, ConditionStatus, Failure, FailureSource, messages};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub reason: ConditionReason,
    /// One line, at most 1 KiB, without secrets.
    pub message: String,
    pub failure: Option<Failure>,
    /// When it happened on the node; none if nothing shows it.
    pub at: Option<Timestamp>,
    /// Karpenter has left the NodeClaim, and the message says so.
    pub is_idle: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    Nothing,
    /// May be replaced by a later verdict.
    Passing(Verdict),
    Final(Verdict),
}

impl Finding {
    pub fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Nothing => None,
            Self::Passing(verdict) | Self::Final(verdict) => Some(verdict),
        }
    }
}

impl Verdict {
    pub fn status(&self) -> ConditionStatus {
        self.reason.status()
    }

    #[must_use]
    pub fn plain(reason: ConditionReason, message: &str) -> Self {
        Self::unexplained(reason, message.to_owned())
    }

    pub fn succeeded() -> Self {
        Self::plain(ConditionReason::CseSucceeded, messages::SUCCEEDED)
    }

    #[must_use]
    pub fn unavailable(message: String) -> Self {
        Self::unexplained(ConditionReason::CseStatusUnavailable, message)
    }

    fn unexplained(reason: ConditionReason, message: String) -> Self {
        Self { reason, message, failure: None, at: None, is_idle: false }
    }

    #[must_use]
    pub fn failed(diagnosis: &Diagnosis, source: FailureSource) -> Self {
        let failure = messages::failure(diagnosis, source);
        let timed_out = match failure.code {
            Some(code) => matches!(code, 124 | 137),
            // `VMExtensionProvisioningTimeout`: Azure received no result in time.
            None => diagnosis.situation == Some(Situation::TimedOut),
        };
        let reason = match (failure.is_confirmed(), timed_out) {
            (false, _) => ConditionReason::CseFailureUnconfirmed,
            (true, true) => ConditionReason::CseTimedOut,
            (true, false) => ConditionReason::CseFailed,
        };
        Self::of_failure(reason, failure)
    }

    /// Returns a failure without any text about its cause.
    #[must_use]
    pub fn failed_silently(source: FailureSource) -> Self {
        let failure = messages::silent_failure(source);
        let reason = if failure.is_confirmed() {
            ConditionReason::CseFailed
        } else {
            ConditionReason::CseFailureUnconfirmed
        };
        Self::of_failure(reason, failure)
    }

    pub fn out_of_time(minutes: i64) -> Self {
        Self::of_failure(ConditionReason::CseTimedOut, messages::out_of_time(minutes))
    }

    /// Returns the verdict on a node that did not register, with the most specific proven cause.
    #[must_use]
    pub fn not_registered(
        claim: &Claim,
        azure: AzureReading,
        cluster: ClusterState,
        overdue: Overdue,
    ) -> Self {
        let cause = RegistrationCause::of(claim.mode(), azure, cluster);
        let failure = registration::failure(claim, cause, overdue);
        let mut verdict = Self::of_failure(ConditionReason::NodeNotRegistered, failure);
        verdict.at = Some(overdue.at);
        verdict.is_idle = overdue.is_idle;
        if verdict.is_idle {
            verdict.message.push_str(messages::IDLE);
        }
        verdict
    }

    fn of_failure(reason: ConditionReason, failure: Failure) -> Self {
        let message = messages::condition(&failure);
        Self { failure: Some(failure), ..Self::unexplained(reason, message) }
    }

    /// Returns the identity of this verdict for events, independent of its wording.
    pub fn key(&self) -> String {
        let failure = self.failure.as_ref();
        let code = failure
            .and_then(|failure| failure.code)
            .map_or_else(String::new, |code| code.to_string());
        format!("{}/{code}/{}", self.reason.as_str(), failure.map_or("", |failure| &failure.cause))
    }
}
