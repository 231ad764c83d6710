//! A whole document: read and written.

use super::decode::Decoder;
use super::encode::{Encoder, FieldNames};
use super::error::{ParseError, Warning};
use super::messages::{KubeletConfigFileConfig, NodeConfig};
use super::schema::Message;
use crate::json::{Escape, JsonLayout, Position, Problem};

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
