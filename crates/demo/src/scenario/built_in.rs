//! Scenarios that are compiled in.

macro_rules! scenarios {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../scenarios/", $name, ".yaml")))),*]
    };
}

/// Names and texts; the first is the default.
pub(super) const ALL: &[(&str, &str)] = scenarios![
    "first-five-minutes",
    "healthy-boot",
    "oras-missing",
    "old-agent",
    "blocked-outbound",
    "slow-network",
    "never-registers",
    "budget-blocks",
    "young-operation",
    "api-server-restarts",
];
