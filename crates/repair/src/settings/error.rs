use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
    #[error("{0} is not set")]
    Missing(&'static str),
    #[error("{name} ({flag}) must be a whole number from 1 to 4294967295, not '{value}'", flag = flag(name))]
    Number {
        name: &'static str,
        /// Sanitized for printing.
        value: String,
    },
    #[error("MOORING_SIGNS (--signs) must be direct or writes, not '{0}'")]
    Signs(String),
    #[error("unknown check '{name}'; valid checks: {valid}")]
    UnknownCheck {
        /// Sanitized for printing.
        name: String,
        valid: String,
    },
    #[error("--override {0} is given twice")]
    Duplicate(String),
    #[error("an override requires a reason: --override {0}=REASON")]
    NoReason(String),
    #[error("'{0}' cannot be a wedge state; Canceled, Failed, Updating and Upgrading can")]
    WedgeState(String),
}

/// Returns the flag for an environment variable.
fn flag(variable: &str) -> &'static str {
    if variable == "NRP_FAIL_THRESHOLD" { "--fail-threshold" } else { "--fail-window" }
}
