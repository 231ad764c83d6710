//! What was read from the cluster, as types of our own.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::evidence::Writes;
use super::target::Target;

pub(crate) const EXTENSIONS: &str = "/apis/apiextensions.k8s.io/v1";
/// What they are called.
pub(crate) const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Workloads with one pod on every node.
pub(crate) const DAEMON_SETS: &str = "daemonsets.apps";

/// A custom resource definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    pub target: Target,
    pub group: String,
    /// The kind of its objects.
    pub kind: String,
    /// Whether its objects have namespaces.
    pub namespaced: bool,
    /// The version by which its objects are reached: the stored one if it is served, else the first that is. None is
    /// served: its objects cannot be reached at all, which is not the same as there being none.
    pub version: Option<String>,
    /// Whether it is being deleted.
    pub deleting: bool,
}

impl Definition {
    /// From the API's JSON.
    pub fn read(value: &Value) -> Option<Self> {
        let spec = &value["spec"];
        let versions = spec["versions"].as_array()?;
        let served = |version: &&Value| version["served"] == true;
        let stored = versions.iter().filter(served).find(|version| version["storage"] == true);
        let used = stored.or_else(|| versions.iter().find(served));
        Some(Self {
            target: Target::of(DEFINITIONS, EXTENSIONS, value)?,
            group: spec["group"].as_str()?.to_owned(),
            kind: spec["names"]["kind"].as_str()?.to_owned(),
            namespaced: spec["scope"] == "Namespaced",
            version: used.and_then(|version| version["name"].as_str()).map(str::to_owned),
            deleting: is_deleting(value),
        })
    }

    /// Its name, which is also that of its resource.
    pub fn name(&self) -> &str {
        &self.target.name
    }

    /// The path of its group and version.
    pub fn root(&self) -> Option<String> {
        self.version.as_ref().map(|version| format!("/apis/{}/{version}", self.group))
    }

    /// The path of the list of its objects, over all namespaces.
    pub fn list(&self) -> Option<String> {
        let plural = self.name().split('.').next().unwrap_or_default();
        self.root().map(|root| format!("{root}/{plural}"))
    }
}

/// A custom resource, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Object {
    pub target: Target,
    pub version: String,
    /// Whether it is being deleted.
    pub deleting: bool,
    pub finalizers: Vec<String>,
    /// Who wrote it, and when.
    #[serde(skip)]
    pub writes: Writes,
}

impl Object {
    /// From the API's JSON, or its metadata alone.
    pub fn read(resource: &str, root: &str, value: &Value) -> Option<Self> {
        Some(Self {
            target: Target::of(resource, root, value)?,
            version: value["metadata"]["resourceVersion"].as_str()?.to_owned(),
            deleting: is_deleting(value),
            finalizers: texts(&value["metadata"]["finalizers"]),
            writes: Writes::read(&value["metadata"]),
        })
    }

    /// This very object as it is now; none if it is another one by now.
    pub fn renewed(&self, value: &Value) -> Option<Self> {
        let metadata = &value["metadata"];
        (metadata["uid"] == self.target.uid.as_str()).then_some(())?;
        Some(Self {
            target: self.target.clone(),
            version: metadata["resourceVersion"].as_str()?.to_owned(),
            deleting: is_deleting(value),
            finalizers: texts(&metadata["finalizers"]),
            writes: Writes::read(metadata),
        })
    }
}

/// A workload in the operator's namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Controller {
    pub target: Target,
    /// How many pods it shall have.
    pub wanted: i64,
    /// How many it has.
    pub replicas: i64,
    /// How many of them are ready.
    pub ready: i64,
}

impl Controller {
    /// From a Deployment, `StatefulSet` or `DaemonSet`.
    pub fn read(resource: &str, value: &Value) -> Option<Self> {
        let number = |value: &Value| value.as_i64().unwrap_or(0);
        if resource == DAEMON_SETS {
            let status = &value["status"];
            return Some(Self {
                target: Target::of(resource, "/apis/apps/v1", value)?,
                wanted: number(&status["desiredNumberScheduled"]),
                replicas: number(&status["currentNumberScheduled"]),
                ready: number(&status["numberReady"]),
            });
        }
        Some(Self {
            target: Target::of(resource, "/apis/apps/v1", value)?,
            wanted: value["spec"]["replicas"].as_i64().unwrap_or(1),
            replicas: number(&value["status"]["replicas"]),
            ready: number(&value["status"]["readyReplicas"]),
        })
    }

    /// Returns true if it can be scaled to zero, which a `DaemonSet` cannot.
    pub fn is_scalable(&self) -> bool {
        self.target.resource != DAEMON_SETS
    }

    /// Whether it acts, or may at any moment.
    pub fn runs(&self) -> bool {
        self.wanted > 0 || self.replicas > 0
    }
}

/// A binding of a cluster role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    pub target: Target,
    /// What it grants, and to whom, in words.
    pub grants: String,
}

impl Binding {
    /// From the API's JSON.
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
        let whom = if subjects.is_empty() { "nobody".to_owned() } else { subjects.join(", ") };
        Some(Self { target, grants: format!("{role} to {whom}") })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespace {
    pub target: Target,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// What holds it, as its conditions say.
    pub held_by: Vec<String>,
}

impl Namespace {
    /// From the API's JSON.
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

    fn definition(versions: &Value) -> Definition {
        Definition::read(&json!({
            "metadata": {"name": "packages.package-operator.run", "uid": "u"},
            "spec": {
                "group": "package-operator.run", "scope": "Namespaced", "versions": versions,
                "names": {"plural": "packages", "kind": "Package"},
            },
        }))
        .unwrap()
    }

    #[test]
    fn objects_are_reached_by_a_version_that_is_served() {
        let version = |name: &str, served: bool, storage: bool| json!({"name": name, "served": served, "storage": storage});
        for (versions, wanted) in [
            (json!([version("v1", true, false), version("v2", true, true)]), Some("v2")),
            (json!([version("v1", true, false), version("v2", false, true)]), Some("v1")),
            (json!([version("v1", true, false)]), Some("v1")),
            (json!([version("v1", false, true)]), None),
            (json!([]), None),
        ] {
            let definition = definition(&versions);
            assert_eq!(definition.version.as_deref(), wanted, "{versions}");
        }
        let served = definition(&json!([version("v1", true, true)]));
        assert_eq!(served.list().unwrap(), "/apis/package-operator.run/v1/packages");
    }

    #[test]
    fn a_workload_that_may_start_at_any_moment_runs() {
        let controller = |wanted: i64, replicas: i64| {
            Controller::read(
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
            Controller::read(DAEMON_SETS, &value).unwrap()
        };
        assert!(daemons(3, 3).runs() && daemons(0, 1).runs() && !daemons(0, 0).runs());
        assert!(!daemons(3, 3).is_scalable() && controller(1, 1).is_scalable());
        assert_eq!(controller(1, 1).target.path, "/apis/apps/v1/namespaces/n/deployments/m");
    }
}
