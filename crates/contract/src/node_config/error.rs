//! Why a node config was refused, or what in it was passed over.

use std::fmt;

use crate::json::{Position, Problem};

/// A document that is not an `AKSNodeConfig`. It names the place, never the value found there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub problem: Problem,
    /// The field, such as `cluster_config.location`; empty for the document as a whole.
    pub path: String,
    /// Where in the text.
    pub position: Position,
}

impl ParseError {
    /// A short, stable word for labels and conditions.
    pub fn reason(&self) -> &'static str {
        self.problem.reason()
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{} ({})", self.problem, self.position)
    }
}

impl std::error::Error for ParseError {}

/// Something in a valid document that this version of the contract does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What was passed over.
    pub what: Unknown,
    /// The field, such as `cluster_config.colour`.
    pub path: String,
    /// Where in the text.
    pub position: Position,
}

/// What was passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// A member with a name that no field has.
    Field,
    /// A name that the enum does not have; the field counts as unset.
    EnumName,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            Unknown::Field => "unknown field, ignored",
            Unknown::EnumName => "unknown enum name, the field counts as not set",
        };
        write!(f, "{}: {what} ({})", self.path, self.position)
    }
}
