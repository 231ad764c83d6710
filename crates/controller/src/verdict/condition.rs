//! The words of a condition.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// `True`
    True,
    /// `False`
    False,
    /// `Unknown`
    Unknown,
}

/// The condition's reasons: few, since they become labels of metrics that Karpenter exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The bootstrap ended well.
    CseSucceeded,
    /// It ended with a code.
    CseFailed,
    /// It ran out of time.
    CseTimedOut,
    /// It is not over.
    CseRunning,
    /// The VM has no extension that would tell.
    NoCseExtension,
    /// Karpenter was to create the extension, and has not.
    CseNotCreated,
    /// The node did not register, and nothing shows that its bootstrap failed.
    NodeNotRegistered,
    /// Azure does not tell.
    CseStatusUnavailable,
    /// Only an event reports a failure, and Azure could not be read.
    CseFailureUnconfirmed,
}

impl Status {
    /// As Kubernetes writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }

    /// As Kubernetes writes it; anything else is unknown.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word {
            "True" => Self::True,
            "False" => Self::False,
            _ => Self::Unknown,
        }
    }
}

impl Reason {
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

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }

    /// The status that goes with it.
    pub const fn status(self) -> Status {
        match self {
            Self::CseSucceeded => Status::True,
            Self::CseFailed | Self::CseTimedOut | Self::NodeNotRegistered => Status::False,
            Self::CseRunning
            | Self::NoCseExtension
            | Self::CseNotCreated
            | Self::CseStatusUnavailable
            | Self::CseFailureUnconfirmed => Status::Unknown,
        }
    }

    /// Whether the bootstrap has ended, so that there is nothing more to read.
    pub const fn is_terminal(self) -> bool {
        !matches!(self.status(), Status::Unknown)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
