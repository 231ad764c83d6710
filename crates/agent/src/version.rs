//! The version of the agent.

/// The version that the build was stamped with.
pub const VERSION: &str = match option_env!("AKS_NODE_CONTROLLER_VERSION") {
    Some(version) => version,
    None => "dev",
};
