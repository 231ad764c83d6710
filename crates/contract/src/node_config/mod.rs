//! The node config: the `AKSNodeConfig` v1 document that a control plane renders for a node.
//!
//! *Valid* is what the Go parser of the same contract accepts without an error. Unknown fields and
//! enum names are ignored and listed as warnings; a malformed document is a [`ParseError`].
//!
//! ```
//! let parsed = mooring_contract::node_config::parse(br#"{"version": "v1", "color": 7}"#)?;
//! assert_eq!(parsed.config.version, "v1");
//! assert_eq!(parsed.warnings[0].to_string(), "color: unknown field, ignored (line 1, column 19)");
//! # Ok::<(), mooring_contract::node_config::ParseError>(())
//! ```

mod decode;
mod document;
mod error;
mod fields;
mod messages;
mod schema;

pub use document::{ConfigFault, Invalid, MAX_BYTES, Parsed, parse, validate};
pub use error::{ParseError, UnknownName, Warning};
pub use fields::FieldNames;
pub use messages::*;
pub use schema::{EnumFacts, FieldFacts, Label, MessageFacts, OrUnset};
