//! Places on the node that the documents name.

/// Where the agent expects the node config.
pub const CONFIG_PATH: &str = "/opt/azure/containers/aks-node-controller-config.json";

/// Where the launcher looks for feature toggles, one `KEY=VALUE` per line.
pub const FEATURES_PATH: &str = "/opt/azure/containers/enabled_features.sh";

/// What the Custom Script Extension runs: it waits for the agent that the custom data started.
pub const CSE_COMMAND: &str = "/opt/azure/containers/aks-node-controller provision-wait";
