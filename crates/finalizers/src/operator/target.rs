//! An object of the cluster.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Path and uid of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Target {
    /// Resource, such as `clusterpackages.package-operator.run`.
    pub resource: String,
    /// None for cluster-scoped objects.
    pub namespace: Option<String>,
    pub name: String,
    pub uid: String,
    /// Path in the API.
    pub path: String,
}

impl Target {
    /// `root` is the path of the API version (`/apis/apps/v1`).
    #[must_use]
    pub fn new(resource: &str, root: &str, namespace: Option<&str>, name: &str, uid: &str) -> Self {
        let plural = resource.split('.').next().unwrap_or(resource);
        let path = match namespace {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}/{name}"),
            None => format!("{root}/{plural}/{name}"),
        };
        Self {
            resource: resource.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
            uid: uid.to_owned(),
            path,
        }
    }

    /// Reads an object's metadata.
    pub fn of(resource: &str, root: &str, object: &Value) -> Option<Self> {
        let text = |name: &str| object["metadata"][name].as_str().filter(|text| !text.is_empty());
        Some(Self::new(resource, root, text("namespace"), text("name")?, text("uid")?))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.resource, self.name),
            None => write!(f, "{} {}", self.resource, self.name),
        }
    }
}
