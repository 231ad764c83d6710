use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
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
