//! The nouns that the node, the controller and the operator share.
//!
//! | noun | what it is |
//! |---|---|
//! | [`NodeConfig`] | what a control plane tells a node ([`node_config`]) |
//! | [`custom_data`] | how it gets there |
//! | [`CseStatus`] | what the node reports ([`cse_status`]) |
//!
//! Nothing in here does I/O, reads a clock or draws a random number. Whatever could hold a secret is
//! a [`Secret`] or a [`ProxyUrl`], which cannot be printed.

pub mod cse_status;
pub mod custom_data;
pub mod json;
pub mod node_config;

pub use cse_status::CseStatus;
pub use mooring_redact::{ProxyUrl, Secret};
pub use node_config::NodeConfig;
