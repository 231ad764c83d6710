//! Checks of a config before a control plane passes it to a node.
//!
//! The node does not run them: it provisions with any config.

use std::fmt;

use super::{NodeConfig, OrUnset};

/// A config that a node cannot use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// In the contract's order.
    pub faults: Vec<ConfigFault>,
}

/// An error in a config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigFault {
    /// A required field is empty or absent.
    Missing { path: &'static str },
    /// The node accepts only `v1` and, with a warning, `v0`.
    UnsupportedVersion,
}

impl ConfigFault {
    /// Returns the path of the field.
    pub fn path(&self) -> &'static str {
        match self {
            Self::Missing { path } => path,
            Self::UnsupportedVersion => "version",
        }
    }
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { path } => write!(f, "required field {path} is missing"),
            Self::UnsupportedVersion => f.write_str("version must be \"v1\""),
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Invalid {}

/// Checks the required fields and returns all faults.
pub fn validate(config: &NodeConfig) -> Result<(), Invalid> {
    let cluster = config.cluster_config.or_unset();
    let network = cluster.cluster_network_config.or_unset();
    let required = [
        ("version", &config.version),
        ("api_server_config.api_server_name", &config.api_server_config.or_unset().api_server_name),
        ("cluster_config.cluster_network_config.vnet_name", &network.vnet_name),
        ("cluster_config.cluster_network_config.route_table", &network.route_table),
        ("cluster_config.resource_group", &cluster.resource_group),
        ("cluster_config.location", &cluster.location),
        ("auth_config.subscription_id", &config.auth_config.or_unset().subscription_id),
    ];
    let missing = required
        .into_iter()
        .filter(|(_, value)| value.is_empty())
        .map(|(path, _)| ConfigFault::Missing { path });
    let version = (!config.version.is_empty() && !config.has_supported_version())
        .then_some(ConfigFault::UnsupportedVersion);
    let faults: Vec<_> = version.into_iter().chain(missing).collect();
    if faults.is_empty() { Ok(()) } else { Err(Invalid { faults }) }
}
