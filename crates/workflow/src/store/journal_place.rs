use serde::{Deserialize, Serialize};

use super::error::NAMESPACE;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JournalPlace {
    /// The namespace in the target cluster.
    ConfigMap(String),
    /// The absolute path.
    File(String),
}

impl Default for JournalPlace {
    fn default() -> Self {
        Self::ConfigMap(NAMESPACE.to_owned())
    }
}
