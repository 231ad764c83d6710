//! Data shared by the node, the controller and the operator.
//!
//! | name | contents |
//! |---|---|
//! | [`NodeConfig`] | settings of a node, from its control plane ([`node_config`]) |
//! | [`custom_data`] | document that delivers the config to a new VM |
//! | [`CseStatus`] | bootstrap report of a node ([`cse_status`]) |
//!
//! This crate does no I/O and reads neither a clock nor randomness. Fields that may hold a secret are
//! [`Secret`] or [`ProxyUrl`], which cannot be printed.

pub mod cse_status;
pub mod custom_data;
pub mod json;
pub mod node_config;

pub use cse_status::CseStatus;
pub use mooring_redact::{ProxyUrl, Secret};
pub use node_config::NodeConfig;
