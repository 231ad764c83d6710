//! The report, and its exit code.

use std::fmt;

use super::timings::Timings;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CseStatus {
    /// A decimal number, as text. See [`Self::code`].
    pub exit_code: String,
    /// The error; Mooring's reports start it with the code's name.
    pub error: String,
    /// The end of the bootstrap's output.
    pub output: String,
    /// The cause; only Mooring's reports contain it.
    pub diagnosis: String,
    /// Agent and scripts in use, if a hotfix is active: `binary=… scripts=…`.
    pub hotfix: String,
    /// Empty in reports that the agent writes.
    pub timings: Timings,
}

/// The reason why a report has no usable exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoCode {
    Missing,
    NotANumber,
}

impl fmt::Display for NoCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "the report has no exit code",
            Self::NotANumber => "the report's exit code is not a whole number",
        })
    }
}

impl std::error::Error for NoCode {}

impl CseStatus {
    pub fn code(&self) -> Result<i64, NoCode> {
        match self.exit_code.as_str() {
            "" => Err(NoCode::Missing),
            text => text.parse().map_err(|_| NoCode::NotANumber),
        }
    }
}
