//! A condition of a NodeClaim.

use std::sync::Arc;

use jiff::Timestamp;

/// Mooring's condition as read from the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub index: u32,
    pub status: ConditionStatus,
    pub reason: Arc<str>,
    pub message: Arc<str>,
    pub since: Timestamp,
}

/// Parents of a condition that the object has. A patch must create the missing ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    NoStatus,
    NoConditions,
    List,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}

impl ConditionStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "True" => Self::True,
            "False" => Self::False,
            _ => Self::Unknown,
        }
    }
}
