//! What a config must have before a control plane should hand it to a node.
//!
//! The node itself does not ask: it provisions with whatever it was given.

use std::fmt;

use super::{NodeConfig, OrUnset};

/// A config that a node cannot use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// Everything that is wrong, in the contract's order.
    pub faults: Vec<Fault>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A required field is empty or absent.
    Missing {
        /// Which.
        path: &'static str,
    },
    /// The node accepts only `v1` and, with a complaint, `v0`.
    UnsupportedVersion,
}

impl Fault {
    /// The field at fault.
    pub fn path(&self) -> &'static str {
        match self {
            Self::Missing { path } => path,
            Self::UnsupportedVersion => "version",
        }
    }
}

impl fmt::Display for Fault {
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

/// Checks the required fields, and reports every fault at once.
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
        .map(|(path, _)| Fault::Missing { path });
    let version = (!config.version.is_empty() && !config.has_supported_version())
        .then_some(Fault::UnsupportedVersion);
    let faults: Vec<_> = version.into_iter().chain(missing).collect();
    if faults.is_empty() { Ok(()) } else { Err(Invalid { faults }) }
}
