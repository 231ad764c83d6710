#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ProvisioningState {
    /// Absent, or a state that is not known.
    #[default]
    Unknown,
    /// Being created or updated.
    Running,
    Succeeded,
    Failed,
    Deleting,
}

impl ProvisioningState {
    /// Parses a `provisioningState` or a status code such as `ProvisioningState/failed/50`.
    #[must_use]
    pub fn parse(state: &str) -> Self {
        let lower = state.to_ascii_lowercase();
        let state = lower.strip_prefix("provisioningstate/").unwrap_or(&lower);
        match state.split('/').next().unwrap_or_default() {
            "succeeded" => Self::Succeeded,
            "failed" | "canceled" => Self::Failed,
            "creating" | "updating" | "transitioning" | "migrating" | "accepted" | "running" => {
                Self::Running
            }
            "deleting" | "deprovisioning" => Self::Deleting,
            _ => Self::Unknown,
        }
    }
}
