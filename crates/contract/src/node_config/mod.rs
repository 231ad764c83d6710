//! The node config: the `AKSNodeConfig` v1 document that a control plane renders for a node.
//!
//! *Valid* is what the Go parser of the same contract accepts without an error. Unknown fields and
//! enum names are passed over and listed as warnings; anything malformed is a [`ParseError`], and
//! nothing half-read ever leaves [`parse`].
//!
//! ```
//! let parsed = mooring_contract::node_config::parse(br#"{"version": "v1", "colour": 7}"#)?;
//! assert_eq!(parsed.config.version, "v1");
//! assert_eq!(parsed.warnings[0].to_string(), "colour: unknown field, ignored (line 1, column 19)");
//! # Ok::<(), mooring_contract::node_config::ParseError>(())
//! ```

mod decode;
mod encode;
mod error;
mod fields;
mod messages;
mod path;
mod schema;
mod validate;

pub use encode::Names;
pub use error::{ParseError, Unknown, Warning};
pub use messages::*;
pub use schema::{EnumFacts, FieldFacts, Label, MessageFacts};
pub use validate::{Fault, Invalid, validate};

use crate::json::{Escape, Layout, Position, Problem};
use decode::Decoder;
use encode::Encoder;
use schema::Message;

/// The largest document accepted: sixty times Azure's limit for custom data.
pub const MAX_BYTES: usize = 4 << 20;

/// A valid document.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// What it says.
    pub config: NodeConfig,
    /// What in it was passed over, in the document's order.
    pub warnings: Vec<Warning>,
    /// How many more warnings there were than are kept.
    pub warnings_dropped: usize,
}

/// Reads a document.
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
    /// The document, secrets included: for the node's custom data and nothing else.
    pub fn to_json_with_secrets(&self) -> String {
        Encoder::document(self, Names::Proto, Layout::Indented(2), Escape::Minimal)
    }

    /// Whether the node accepts this revision: `v1` and, with a complaint, `v0`.
    pub fn has_supported_version(&self) -> bool {
        matches!(self.version.as_str(), "v0" | "v1")
    }

    /// Every secret value in here that is not empty, for redaction.
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
    /// The kubelet's config file, laid out as the Go program lays it out.
    pub fn to_kubelet_json(&self) -> String {
        Encoder::document(self, Names::Json, Layout::Indented(4), Escape::Html)
    }
}

/// A message that may be absent, which then counts as having all defaults.
pub trait OrUnset {
    /// The message.
    type Message;

    /// The message, or one with nothing set.
    fn or_unset(&self) -> &Self::Message;
}
