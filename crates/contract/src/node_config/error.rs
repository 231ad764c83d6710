//! Errors and warnings of the node config parser.

use std::fmt;

use crate::json::{Position, Problem};

/// A document that is not an `AKSNodeConfig`. It names the path, never the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    pub problem: Problem,
    /// The field, such as `cluster_config.location`; empty for the document as a whole.
    pub path: String,
    pub position: Position,
}

impl ParseError {
    /// Returns a stable identifier for labels and conditions.
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

/// A field or value of a valid document that this version of the contract does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub what: UnknownName,
    /// The field, such as `cluster_config.color`.
    pub path: String,
    pub position: Position,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownName {
    /// A member whose name is not a field.
    Field,
    /// An unknown name of an enum value; the field counts as unset.
    EnumName,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            UnknownName::Field => "unknown field, ignored",
            UnknownName::EnumName => "unknown enum name, the field counts as not set",
        };
        write!(f, "{}: {what} ({})", self.path, self.position)
    }
}
