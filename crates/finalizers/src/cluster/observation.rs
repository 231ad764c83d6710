//! Typed state of the cluster.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::evidence::OperatorWrites;
use crate::operator::target::Target;

pub(crate) const EXTENSIONS: &str = "/apis/apiextensions.k8s.io/v1";
pub(crate) const CRDS: &str = "customresourcedefinitions.apiextensions.k8s.io";

pub(crate) const DAEMON_SETS: &str = "daemonsets.apps";

/// A `CustomResourceDefinition`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crd {
    pub target: Target,
    pub group: String,
    pub kind: String,
    pub namespaced: bool,
    /// The stored version if it is served, else the first served one. None if no version is served: its objects cannot be
    /// listed, which does not mean that there are none.
    pub version: Option<String>,
    pub deleting: bool,
}

impl Crd {
    pub fn read(value: &Value) -> Option<Self> {
        let spec = &value["spec"];
        let versions = spec["versions"].as_array()?;
        let served = |version: &&Value| version["served"] == true;
        let stored = versions.iter().filter(served).find(|version| version["storage"] == true);
        let used = stored.or_else(|| versions.iter().find(served));
        Some(Self {
            target: Target::of(CRDS, EXTENSIONS, value)?,
            group: spec["group"].as_str()?.to_owned(),
            kind: spec["names"]["kind"].as_str()?.to_owned(),
            namespaced: spec["scope"] == "Namespaced",
            version: used.and_then(|version| version["name"].as_str()).map(str::to_owned),
            deleting: is_deleting(value),
        })
    }

    /// Name of the CRD and of its resource.
    pub fn name(&self) -> &str {
        &self.target.name
    }

    pub fn root(&self) -> Option<String> {
        self.version.as_ref().map(|version| format!("/apis/{}/{version}", self.group))
    }

    /// Path of its objects in all namespaces.
    pub fn list(&self) -> Option<String> {
        let plural = self.name().split('.').next().unwrap_or_default();
        self.root().map(|root| format!("{root}/{plural}"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LiveObject {
    #[serde(flatten)]
    pub target: Target,
    #[serde(skip)]
    pub version: String,
    #[serde(rename = "isDeleting")]
    pub deleting: bool,
    #[serde(skip)]
    pub finalizers: Vec<String>,
    #[serde(skip)]
    pub writes: OperatorWrites,
}

impl LiveObject {
    /// Reads the object or its metadata.
    pub fn read(resource: &str, root: &str, value: &Value) -> Option<Self> {
        Self::of(Target::of(resource, root, value)?, value)
    }

    /// Returns the current state; none if the uid differs.
    pub fn renewed(&self, value: &Value) -> Option<Self> {
        (value["metadata"]["uid"] == self.target.uid.as_str()).then_some(())?;
        Self::of(self.target.clone(), value)
    }

    fn of(target: Target, value: &Value) -> Option<Self> {
        let metadata = &value["metadata"];
        Some(Self {
            target,
            version: metadata["resourceVersion"].as_str()?.to_owned(),
            deleting: is_deleting(value),
            finalizers: texts(&metadata["finalizers"]),
            writes: OperatorWrites::read(metadata),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorWorkload {
    pub target: Target,
    pub wanted: i64,
    pub replicas: i64,
    pub ready: i64,
}

impl OperatorWorkload {
    /// Reads a Deployment, `StatefulSet` or `DaemonSet`.
    pub fn read(resource: &str, value: &Value) -> Option<Self> {
        let (spec, status) = (&value["spec"], &value["status"]);
        let number = |name: &str| status[name].as_i64().unwrap_or(0);
        let (wanted, replicas, ready) = if resource == DAEMON_SETS {
            let replicas = number("currentNumberScheduled");
            (number("desiredNumberScheduled"), replicas, number("numberReady"))
        } else {
            let wanted = spec["replicas"].as_i64().unwrap_or(1);
            (wanted, number("replicas"), number("readyReplicas"))
        };
        let target = Target::of(resource, "/apis/apps/v1", value)?;
        Some(Self { target, wanted, replicas, ready })
    }

    /// Returns true if it can be scaled to zero, which a `DaemonSet` cannot.
    pub fn is_scalable(&self) -> bool {
        self.target.resource != DAEMON_SETS
    }

    /// Returns true if it has pods or may start them.
    pub fn runs(&self) -> bool {
        self.wanted > 0 || self.replicas > 0
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    pub target: Target,
    /// Description of role and subjects.
    pub grants: String,
}

impl Binding {
    pub fn read(value: &Value) -> Option<Self> {
        let rbac = "rbac.authorization.k8s.io";
        let root = "/apis/rbac.authorization.k8s.io/v1";
        let target = Target::of(&format!("clusterrolebindings.{rbac}"), root, value)?;
        let subjects = value["subjects"].as_array().map(Vec::as_slice).unwrap_or_default();
        let subjects: Vec<String> = subjects
            .iter()
            .map(|subject| {
                let text = |name: &str| subject[name].as_str().unwrap_or_default();
                match text("namespace") {
                    "" => text("name").to_owned(),
                    namespace => format!("{namespace}/{}", text("name")),
                }
            })
            .collect();
        let role = value["roleRef"]["name"].as_str().unwrap_or("nothing");
        let subjects =
            if subjects.is_empty() { "no subjects".to_owned() } else { subjects.join(", ") };
        Some(Self { target, grants: format!("{role} to {subjects}") })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespace {
    pub target: Target,
    pub deleting: bool,
    /// Conditions that block its deletion.
    pub held_by: Vec<String>,
}

impl Namespace {
    pub fn read(value: &Value) -> Option<Self> {
        let conditions = value["status"]["conditions"].as_array();
        let held_by = conditions.map(Vec::as_slice).unwrap_or_default().iter().filter_map(|one| {
            let (kind, message) = (one["type"].as_str()?, one["message"].as_str().unwrap_or(""));
            (one["status"] == "True").then(|| format!("{kind}: {message}"))
        });
        Some(Self {
            held_by: held_by.collect(),
            target: Target::of("namespaces", "/api/v1", value)?,
            deleting: is_deleting(value),
        })
    }
}

pub(crate) fn is_deleting(value: &Value) -> bool {
    value["metadata"]["deletionTimestamp"].is_string()
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn crd(versions: &Value) -> Crd {
        Crd::read(&json!({
            "metadata": {"name": "packages.package-operator.run", "uid": "u"},
            "spec": {
                "group": "package-operator.run", "scope": "Namespaced", "versions": versions,
                "names": {"plural": "packages", "kind": "Package"},
            },
        }))
        .unwrap()
    }

    #[test]
    fn objects_are_listed_in_a_served_version() {
        let version = |name: &str, served: bool, storage: bool| json!({"name": name, "served": served, "storage": storage});
        for (versions, wanted) in [
            (json!([version("v1", true, false), version("v2", true, true)]), Some("v2")),
            (json!([version("v1", true, false), version("v2", false, true)]), Some("v1")),
            (json!([version("v1", true, false)]), Some("v1")),
            (json!([version("v1", false, true)]), None),
            (json!([]), None),
        ] {
            let crd = crd(&versions);
            assert_eq!(crd.version.as_deref(), wanted, "{versions}");
        }
        let served = crd(&json!([version("v1", true, true)]));
        assert_eq!(served.list().unwrap(), "/apis/package-operator.run/v1/packages");
    }

    #[test]
    fn workload_that_may_start_counts_as_running() {
        let controller = |wanted: i64, replicas: i64| {
            OperatorWorkload::read(
                "deployments.apps",
                &json!({
                    "metadata": {"name": "m", "namespace": "n", "uid": "u"},
                    "spec": {"replicas": wanted}, "status": {"replicas": replicas},
                }),
            )
            .unwrap()
        };
        assert!(controller(1, 0).runs() && controller(0, 1).runs() && !controller(0, 0).runs());
        let daemons = |wanted: i64, current: i64| {
            let value = json!({
                "metadata": {"name": "m", "namespace": "n", "uid": "u"},
                "status": {"desiredNumberScheduled": wanted, "currentNumberScheduled": current},
            });
            OperatorWorkload::read(DAEMON_SETS, &value).unwrap()
        };
        assert!(daemons(3, 3).runs() && daemons(0, 1).runs() && !daemons(0, 0).runs());
        assert!(!daemons(3, 3).is_scalable() && controller(1, 1).is_scalable());
        assert_eq!(controller(1, 1).target.path, "/apis/apps/v1/namespaces/n/deployments/m");
    }
}
