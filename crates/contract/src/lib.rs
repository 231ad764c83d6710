//! The nouns that the node, the controller and the operator share.
pub mod catalogue;
pub mod cse_status;
pub mod custom_data;
pub mod json;
pub mod node_config;
mod secret;
mod shown;

pub use cse_status::CseStatus;
pub use node_config::NodeConfig;
pub use secret::{MASK, ProxyUrl, Secret};
pub use shown::shown;
