//! Paths on the node that the documents contain.

pub const CONFIG_PATH: &str = "/opt/azure/containers/aks-node-controller-config.json";

/// Feature toggles for the launcher, one `KEY=VALUE` per line.
pub const FEATURES_PATH: &str = "/opt/azure/containers/enabled_features.sh";

/// Command of the Custom Script Extension; waits for the agent that the custom data started.
pub const CSE_COMMAND: &str = "/opt/azure/containers/aks-node-controller provision-wait";
