//! Objects of the cluster, each read from its JSON once.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::profile::{Profile, Settings};
use crate::signs::OperatorWrites;

pub(crate) const CRDS: &str = "customresourcedefinitions.apiextensions.k8s.io";
pub(crate) const DAEMON_SETS: &str = "daemonsets.apps";
pub(crate) const BINDINGS: &str = "clusterrolebindings.rbac.authorization.k8s.io";

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
        let place = namespace.map(|namespace| format!("/namespaces/{namespace}"));
        let path = format!("{root}{}/{}/{name}", place.unwrap_or_default(), plural(resource));
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

    /// Returns the name for `--override`, without the namespace.
    pub fn short_name(&self) -> String {
        format!("{}/{}", self.resource, self.name)
    }

    /// Returns the API group of the resource; empty for the core group.
    pub(crate) fn group(&self) -> &str {
        self.resource.split_once('.').map_or("", |(_, group)| group)
    }

    /// Returns path and uid as a key.
    pub(crate) fn key(&self) -> String {
        format!("{} {}", self.path, self.uid)
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

/// Returns `things` of `things.example.com`.
pub(crate) fn plural(resource: &str) -> &str {
    resource.split('.').next().unwrap_or(resource)
}

/// Returns the path of an API version.
pub(crate) fn root_of(api_version: &str) -> String {
    let root = if api_version.contains('/') { "/apis" } else { "/api" };
    format!("{root}/{api_version}")
}

/// What the metadata of any object says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Object {
    #[serde(flatten)]
    pub target: Target,
    #[serde(rename = "isDeleting")]
    pub deleting: bool,
    #[serde(skip)]
    pub version: String,
    #[serde(skip)]
    pub finalizers: Vec<String>,
    #[serde(skip)]
    pub writes: OperatorWrites,
    /// Uids of its owners.
    #[serde(skip)]
    pub owners: Vec<String>,
    /// Uid of the owner that controls it.
    #[serde(skip)]
    pub controller: Option<String>,
    /// Name and namespace of the Helm release that it is marked with, unless it is to be kept.
    #[serde(skip)]
    pub release: Option<(String, String)>,
    /// Uid of the service account whose token it is.
    #[serde(skip)]
    pub account: Option<String>,
}

impl Object {
    /// Reads the object or its metadata; none for one that is not stored and has no uid.
    pub fn read(resource: &str, root: &str, value: &Value) -> Option<Self> {
        Some(Self::of(Target::of(resource, root, value)?, value))
    }

    /// Returns the current state; none if the uid differs.
    pub fn renewed(&self, value: &Value) -> Option<Self> {
        let is_same = value["metadata"]["uid"] == self.target.uid.as_str();
        is_same.then(|| Self::of(self.target.clone(), value)).filter(|now| !now.version.is_empty())
    }

    pub(crate) fn of(target: Target, value: &Value) -> Self {
        let metadata = &value["metadata"];
        let annotation = |name: &str| metadata["annotations"][name].as_str().map(str::to_owned);
        let uid = |owner: &Value| owner["uid"].as_str().map(str::to_owned);
        let owners = || metadata["ownerReferences"].as_array().into_iter().flatten();
        let kept = annotation("helm.sh/resource-policy").as_deref() == Some("keep");
        let release = annotation("meta.helm.sh/release-name")
            .zip(annotation("meta.helm.sh/release-namespace"));
        let finalizers = metadata["finalizers"].as_array().into_iter().flatten();
        Self {
            target,
            deleting: is_deleting(value),
            version: metadata["resourceVersion"].as_str().unwrap_or_default().to_owned(),
            finalizers: finalizers.filter_map(|one| one.as_str().map(str::to_owned)).collect(),
            writes: OperatorWrites::read(metadata),
            owners: owners().filter_map(uid).collect(),
            controller: owners().find(|owner| owner["controller"] == true).and_then(uid),
            release: release.filter(|_| !kept),
            account: annotation("kubernetes.io/service-account.uid"),
        }
    }

    /// Helm marks its objects; those without a mark or of another release do not belong to it.
    pub fn is_of_release(&self, profile: &Profile) -> bool {
        profile.release.as_ref().zip(self.release.as_ref()).is_some_and(|(release, mark)| {
            release.name == mark.0 && release.namespace.as_ref() == Some(&mark.1)
        })
    }

    /// Returns true if it is deleted with its release: namespaces and CRDs have separate steps.
    pub fn goes_with_release(&self, profile: &Profile) -> bool {
        let has_step = matches!(self.target.resource.as_str(), "namespaces" | CRDS);
        profile.deletes_release() && self.is_of_release(profile) && !has_step
    }
}

/// A `CustomResourceDefinition`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crd {
    pub target: Target,
    pub group: String,
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
            target: Target::of(CRDS, "/apis/apiextensions.k8s.io/v1", value)?,
            group: spec["group"].as_str()?.to_owned(),
            version: used.and_then(|version| version["name"].as_str()).map(str::to_owned),
            deleting: is_deleting(value),
        })
    }

    /// Name of the CRD and of its resource.
    pub fn name(&self) -> &str {
        &self.target.name
    }

    /// Path of the API version of its objects.
    pub fn root(&self) -> Option<String> {
        self.version.as_ref().map(|version| format!("/apis/{}/{version}", self.group))
    }
}

/// A Deployment, `StatefulSet` or `DaemonSet`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    pub target: Target,
    pub wanted: i64,
    pub replicas: i64,
}

impl Workload {
    pub fn read(resource: &str, value: &Value) -> Option<Self> {
        let number = |name: &str| value["status"][name].as_i64().unwrap_or(0);
        let (wanted, replicas) = if resource == DAEMON_SETS {
            (number("desiredNumberScheduled"), number("currentNumberScheduled"))
        } else {
            (value["spec"]["replicas"].as_i64().unwrap_or(1), number("replicas"))
        };
        Some(Self { target: Target::of(resource, "/apis/apps/v1", value)?, wanted, replicas })
    }

    /// Returns true if it can be scaled to zero, which a `DaemonSet` cannot.
    pub fn is_scalable(&self) -> bool {
        self.target.resource != DAEMON_SETS
    }

    /// Returns true if the settings scale it to zero: only workloads of the operator's namespace, if it has one.
    pub fn is_scalable_by(&self, settings: &Settings) -> bool {
        let namespace = &settings.profile.namespace;
        let is_inside = namespace.is_none() || *namespace == self.target.namespace;
        settings.scale_down && self.is_scalable() && is_inside
    }

    /// Returns true if it has pods or may start them.
    pub fn runs(&self) -> bool {
        self.wanted > 0 || self.replicas > 0
    }
}

/// A `ClusterRoleBinding`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    pub target: Target,
    /// Description of role and subjects.
    pub grants: String,
}

impl Binding {
    pub fn read(value: &Value) -> Option<Self> {
        let target = Target::of(BINDINGS, "/apis/rbac.authorization.k8s.io/v1", value)?;
        let subjects = value["subjects"].as_array().into_iter().flatten().map(|subject| {
            let text = |name: &str| subject[name].as_str().unwrap_or_default();
            match text("namespace") {
                "" => text("name").to_owned(),
                namespace => format!("{namespace}/{}", text("name")),
            }
        });
        let mut subjects = subjects.collect::<Vec<_>>().join(", ");
        if subjects.is_empty() {
            "no subjects".clone_into(&mut subjects);
        }
        let role = value["roleRef"]["name"].as_str().unwrap_or("nothing");
        Some(Self { target, grants: format!("{role} to {subjects}") })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Namespace {
    pub target: Target,
    pub deleting: bool,
    /// Conditions that block its deletion.
    pub held_by: Vec<String>,
}

impl Namespace {
    pub fn read(value: &Value) -> Option<Self> {
        let conditions = value["status"]["conditions"].as_array().into_iter().flatten();
        let held_by = conditions.filter(|one| one["status"] == "True").filter_map(|one| {
            Some(format!("{}: {}", one["type"].as_str()?, one["message"].as_str().unwrap_or("")))
        });
        Some(Self {
            held_by: held_by.collect(),
            target: Target::of("namespaces", "/api/v1", value)?,
            deleting: is_deleting(value),
        })
    }
}

fn is_deleting(value: &Value) -> bool {
    value["metadata"]["deletionTimestamp"].is_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Release, ReleaseResources};
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
        assert_eq!(served.root().unwrap(), "/apis/package-operator.run/v1");
    }

    #[test]
    fn workload_that_may_start_counts_as_running() {
        let controller = |wanted: i64, replicas: i64| {
            Workload::read(
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
            Workload::read(DAEMON_SETS, &value).unwrap()
        };
        assert!(daemons(3, 3).runs() && daemons(0, 1).runs() && !daemons(0, 0).runs());
        assert!(!daemons(3, 3).is_scalable() && controller(1, 1).is_scalable());
        assert_eq!(controller(1, 1).target.path, "/apis/apps/v1/namespaces/n/deployments/m");
    }

    #[test]
    fn objects_belong_to_the_release_by_their_marks() {
        let release = Release {
            name: "r".into(),
            namespace: Some("n".into()),
            resources: ReleaseResources::Delete,
        };
        let profile = Profile { release: Some(release), ..Profile::of_group("example.com") };
        let made = |annotations: Value| {
            let value = json!({"metadata": {"name": "s", "uid": "u", "annotations": annotations}});
            Object::read("services", "/api/v1", &value).unwrap().goes_with_release(&profile)
        };
        let (name, place) = ("meta.helm.sh/release-name", "meta.helm.sh/release-namespace");
        assert!(made(json!({name: "r", place: "n"})));
        assert!(!made(json!({name: "r", place: "other"})));
        assert!(!made(json!({name: "other", place: "n"})));
        assert!(!made(json!({name: "r", place: "n", "helm.sh/resource-policy": "keep"})));
        assert!(!made(json!(null)));
    }
}
