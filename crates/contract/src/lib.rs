//! The nouns that the node, the controller and the operator share.
pub mod json;
pub mod node_config;
mod secret;

pub use node_config::NodeConfig;
pub use secret::{MASK, ProxyUrl, Secret};
