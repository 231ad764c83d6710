//! Verdicts on nodes: reasons of conditions, failures, their texts, and nodes that did not register.

mod finding;
pub mod messages;
pub mod registration;

use std::fmt;

use jiff::{SignedDuration, Timestamp};

pub use finding::{Finding, Verdict};

pub use crate::claim::ConditionStatus;

/// Reasons of the condition: few, since they become labels of metrics that Karpenter exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionReason {
    CseSucceeded,
    CseFailed,
    CseTimedOut,
    CseRunning,
    /// The VM has no extension that reports a result.
    NoCseExtension,
    /// Karpenter should have created the extension.
    CseNotCreated,
    /// The node did not register, and nothing shows that its bootstrap failed.
    NodeNotRegistered,
    CseStatusUnavailable,
    /// Only an event reports a failure, and Azure could not be read.
    CseFailureUnconfirmed,
}

impl ConditionReason {
    pub const ALL: [Self; 9] = [
        Self::CseSucceeded,
        Self::CseFailed,
        Self::CseTimedOut,
        Self::CseRunning,
        Self::NoCseExtension,
        Self::CseNotCreated,
        Self::NodeNotRegistered,
        Self::CseStatusUnavailable,
        Self::CseFailureUnconfirmed,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CseSucceeded => "CSESucceeded",
            Self::CseFailed => "CSEFailed",
            Self::CseTimedOut => "CSETimedOut",
            Self::CseRunning => "CSERunning",
            Self::NoCseExtension => "NoCSEExtension",
            Self::CseNotCreated => "CSENotCreated",
            Self::NodeNotRegistered => "NodeNotRegistered",
            Self::CseStatusUnavailable => "CSEStatusUnavailable",
            Self::CseFailureUnconfirmed => "CSEFailureUnconfirmed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text)
    }

    pub const fn status(self) -> ConditionStatus {
        match self {
            Self::CseSucceeded => ConditionStatus::True,
            Self::CseFailed | Self::CseTimedOut | Self::NodeNotRegistered => ConditionStatus::False,
            Self::CseRunning
            | Self::NoCseExtension
            | Self::CseNotCreated
            | Self::CseStatusUnavailable
            | Self::CseFailureUnconfirmed => ConditionStatus::Unknown,
        }
    }

    /// Returns true if the bootstrap has finished, so that no further read is needed.
    pub const fn is_terminal(self) -> bool {
        !matches!(self.status(), ConditionStatus::Unknown)
    }
}

impl fmt::Display for ConditionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: Option<i32>,
    pub name: Option<String>,
    /// Code that matches the cause, if different.
    pub effective: Option<(i32, String)>,
    /// Reason of the diagnosis.
    pub cause: String,
    /// The cause without its full stop.
    pub sentence: String,
    /// The first action without its full stop.
    pub action: String,
    pub owner: &'static str,
    pub confidence: &'static str,
    /// Quoted line that shows the cause.
    pub evidence: Option<String>,
    pub source: FailureSource,
}

impl Failure {
    /// Returns true if Azure or the API server shows the failure. An event alone does not: others can write events.
    pub fn is_confirmed(&self) -> bool {
        self.source != FailureSource::KarpenterEvent
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureSource {
    InstanceView,
    Machine,
    /// Karpenter's event, because the VM was deleted.
    KarpenterEvent,
    /// Karpenter's timeout, without any report.
    Clock,
    Registration,
}

impl FailureSource {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InstanceView => "instance-view",
            Self::Machine => "aks-machine",
            Self::KarpenterEvent => "karpenter-event",
            Self::Clock => "clock",
            Self::Registration => "registration",
        }
    }
}

/// Returns whole seconds between two instants.
pub fn seconds(from: Timestamp, to: Timestamp) -> i64 {
    to.as_second().saturating_sub(from.as_second())
}

pub fn after(from: Timestamp, pause: SignedDuration) -> Timestamp {
    from.saturating_add(pause).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_reason_are_read_back_from_their_names() {
        for reason in ConditionReason::ALL {
            assert_eq!(ConditionReason::parse(reason.as_str()), Some(reason));
            assert_eq!(
                reason.is_terminal(),
                reason.status() != ConditionStatus::Unknown,
                "{reason}"
            );
        }
        for status in [ConditionStatus::True, ConditionStatus::False, ConditionStatus::Unknown] {
            assert_eq!(ConditionStatus::parse(status.as_str()), status);
        }
        assert_eq!(
            (ConditionReason::parse(""), ConditionStatus::parse("true")),
            (None, ConditionStatus::Unknown)
        );
        assert_eq!(format!("{:<11}|", ConditionReason::CseFailed), "CSEFailed  |");
    }
}
