//! A whole document: read, written, and checked before a control plane passes it to a node.

use std::fmt;

use crate::json::{Escape, JsonLayout, Position, Problem};
use crate::node_config::decode::Decoder;
use crate::node_config::error::{ParseError, Warning};
use crate::node_config::fields::{Encoder, FieldNames};
use crate::node_config::messages::{KubeletConfigFileConfig, NodeConfig};
use crate::node_config::schema::{Message, OrUnset};

/// The largest document accepted: sixty times Azure's limit for custom data.
pub const MAX_BYTES: usize = 4 << 20;

#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    pub config: NodeConfig,
    /// Sorted by position.
    pub warnings: Vec<Warning>,
    /// Number of warnings that were not kept.
    pub warnings_dropped: usize,
}

pub fn parse(document: &[u8]) -> Result<Parsed, ParseError> {
    if document.len() > MAX_BYTES {
        return Err(ParseError {
            problem: Problem::TooLarge { bytes: document.len(), limit: MAX_BYTES },
            path: String::new(),
            position: Position { line: 1, column: 1 },
        });
    }
    let (config, warnings, warnings_dropped) = Decoder::new(document).document()?;
    Ok(Parsed { config, warnings, warnings_dropped })
}

impl NodeConfig {
    /// Returns the document including secrets, for the node's custom data only.
    pub fn to_json_with_secrets(&self) -> String {
        Encoder::document(self, FieldNames::Proto, JsonLayout::Indented(2), Escape::Minimal)
    }

    /// Returns true for `v1` and, with a warning on the node, `v0`.
    pub fn has_supported_version(&self) -> bool {
        matches!(self.version.as_str(), "v0" | "v1")
    }

    /// Returns all secret values that are not empty, for redaction.
    pub fn expose_secrets(&self) -> Vec<&str> {
        let mut secrets = Vec::new();
        self.visit_secrets(&mut |secret| {
            if !secret.is_empty() {
                secrets.push(secret);
            }
        });
        secrets
    }
}

impl KubeletConfigFileConfig {
    /// Returns the kubelet's config file in the layout of the upstream Go agent.
    pub fn to_kubelet_json(&self) -> String {
        Encoder::document(self, FieldNames::Json, JsonLayout::Indented(4), Escape::Html)
    }
}

/// A config that a node cannot use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// In the contract's order.
    pub faults: Vec<ConfigFault>,
}

/// An error in a config.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigFault {
    /// A required field is empty or absent.
    #[error("required field {path} is missing")]
    Missing { path: &'static str },
    /// The node accepts only `v1` and, with a warning, `v0`.
    #[error("version must be \"v1\"")]
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
