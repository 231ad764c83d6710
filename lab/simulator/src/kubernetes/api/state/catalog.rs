//! Resources of the API: the built-in ones as one table, and those of CRDs.

use std::sync::Arc;

use super::schema::Schema;

pub(crate) const CRDS: &str = "customresourcedefinitions.apiextensions.k8s.io";

#[derive(Debug, Clone)]
pub(crate) struct Resource {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) namespaced: bool,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    /// Table of the store; two resources may share it.
    pub(crate) table: String,
    /// `apiVersion` in the store.
    pub(crate) stored_as: String,
    pub(crate) generation: bool,
    pub(crate) status: bool,
    /// Further subresources, by name.
    pub(crate) subresources: Vec<&'static str>,
    pub(crate) origin: ResourceOrigin,
}

#[derive(Debug, Clone)]
pub(crate) enum ResourceOrigin {
    BuiltIn,
    /// Only created, never stored: reviews.
    Review,
    Custom(Arc<Custom>),
}

/// Properties of one version of a CRD.
#[derive(Debug)]
pub(crate) struct Custom {
    pub(crate) schema: Schema,
    pub(crate) columns: Vec<CustomColumn>,
}

#[derive(Debug)]
pub(crate) struct CustomColumn {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) description: String,
    pub(crate) priority: i64,
    pub(crate) path: String,
}

impl Resource {
    pub(crate) fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    pub(crate) fn qualified(&self) -> String {
        dotted(&self.plural, &self.group)
    }

    pub(crate) fn qualified_kind(&self) -> String {
        dotted(&self.kind, &self.group)
    }

    pub(crate) fn custom(&self) -> Option<&Custom> {
        match &self.origin {
            ResourceOrigin::Custom(custom) => Some(custom),
            _ => None,
        }
    }

    pub(crate) fn is_review(&self) -> bool {
        matches!(self.origin, ResourceOrigin::Review)
    }

    pub(crate) fn serves(&self, subresource: &str) -> bool {
        (subresource == "status" && self.status) || self.subresources.contains(&subresource)
    }

    pub(crate) fn verbs(&self) -> &'static [&'static str] {
        if self.is_review() {
            return &["create"];
        }
        &["create", "delete", "get", "list", "patch", "update", "watch"]
    }
}

pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// Returns the path of a version of a group: `api/v1` or `apis/apps/v1`.
pub(crate) fn api_path(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

fn dotted(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

/// A built-in resource: group, version, plural, kind, short names separated by spaces, marks, subresources. Marks: `n`
/// namespaced, `g` counts generations, `s` has a status, `a` in category `all`, `r` a review.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const APPS: &str = "apps";
const RBAC: &str = "rbac.authorization.k8s.io";

#[rustfmt::skip]
const BUILT_IN: &[Row] = &[
    ("", "v1", "configmaps", "ConfigMap", "cm", "n", &[]),
    ("", "v1", "endpoints", "Endpoints", "ep", "n", &[]),
    ("", "v1", "events", "Event", "ev", "n", &[]),
    ("", "v1", "namespaces", "Namespace", "ns", "s", &[]),
    ("", "v1", "nodes", "Node", "no", "s", &[]),
    ("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", "pvc", "ns", &[]),
    ("", "v1", "persistentvolumes", "PersistentVolume", "pv", "s", &[]),
    ("", "v1", "pods", "Pod", "po", "nsa", &["eviction"]),
    ("", "v1", "secrets", "Secret", "", "n", &[]),
    ("", "v1", "serviceaccounts", "ServiceAccount", "sa", "n", &[]),
    ("", "v1", "services", "Service", "svc", "nsa", &[]),
    (APPS, "v1", "controllerrevisions", "ControllerRevision", "", "n", &[]),
    (APPS, "v1", "daemonsets", "DaemonSet", "ds", "ngsa", &[]),
    (APPS, "v1", "deployments", "Deployment", "deploy", "ngsa", &["scale"]),
    (APPS, "v1", "replicasets", "ReplicaSet", "rs", "ngsa", &["scale"]),
    (APPS, "v1", "statefulsets", "StatefulSet", "sts", "ngsa", &["scale"]),
    ("batch", "v1", "jobs", "Job", "", "ngsa", &[]),
    ("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", "pdb", "ngs", &[]),
    ("coordination.k8s.io", "v1", "leases", "Lease", "", "n", &[]),
    ("certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", "csr", "s", &["approval"]),
    ("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", "", "n", &[]),
    ("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", "netpol", "ng", &[]),
    ("events.k8s.io", "v1", "events", "Event", "ev", "n", &[]),
    ("storage.k8s.io", "v1", "storageclasses", "StorageClass", "sc", "", &[]),
    ("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", "", "s", &[]),
    ("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", "pc", "g", &[]),
    (RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", "", "", &[]),
    (RBAC, "v1", "clusterroles", "ClusterRole", "", "", &[]),
    (RBAC, "v1", "rolebindings", "RoleBinding", "", "n", &[]),
    (RBAC, "v1", "roles", "Role", "", "n", &[]),
    ("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", "", "g", &[]),
    ("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", "", "g", &[]),
    ("apiregistration.k8s.io", "v1", "apiservices", "APIService", "", "s", &[]),
    ("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", "crd crds", "gs", &[]),
    ("authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", "", "r", &[]),
];

fn built_in(&(group, version, plural, kind, short, marks, subresources): &Row) -> Resource {
    let marked = |mark| marks.contains(mark);
    // Events have two forms and one table.
    let (table, stored_as) = match (group, plural) {
        ("events.k8s.io", "events") => ("events".to_owned(), "v1".to_owned()),
        _ => (dotted(plural, group), api_version(group, version)),
    };
    Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: plural.to_owned(),
        singular: kind.to_ascii_lowercase(),
        kind: kind.to_owned(),
        list_kind: format!("{kind}List"),
        namespaced: marked('n'),
        short_names: short.split_whitespace().map(str::to_owned).collect(),
        categories: if marked('a') { vec!["all".to_owned()] } else { Vec::new() },
        table,
        stored_as,
        generation: marked('g'),
        status: marked('s'),
        subresources: subresources.to_vec(),
        origin: if marked('r') { ResourceOrigin::Review } else { ResourceOrigin::BuiltIn },
    }
}

/// Resources that are served now.
#[derive(Debug)]
pub(crate) struct Catalog {
    resources: Vec<Arc<Resource>>,
}

impl Catalog {
    pub(crate) fn built_in() -> Self {
        Self { resources: BUILT_IN.iter().map(|row| Arc::new(built_in(row))).collect() }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Resource> {
        self.resources.iter().map(AsRef::as_ref)
    }

    /// Returns the resources of one version of a group.
    pub(crate) fn in_version(&self, group: &str, version: &str) -> impl Iterator<Item = &Resource> {
        self.all().filter(move |one| one.group == group && one.version == version)
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.resources
            .iter()
            .find(|one| one.plural == plural && one.group == group && one.version == version)
            .cloned()
    }

    /// Finds a resource in any version, by `nodeclaims.karpenter.sh` or `pods`.
    pub(crate) fn named(&self, qualified: &str) -> Option<Arc<Resource>> {
        self.resources.iter().find(|one| one.qualified() == qualified).cloned()
    }

    pub(crate) fn of_kind(&self, api_version: &str, kind: &str) -> Option<Arc<Resource>> {
        self.resources
            .iter()
            .find(|one| one.kind == kind && one.api_version() == api_version)
            .cloned()
    }

    /// Returns the tables with namespaced objects, each once.
    pub(crate) fn namespaced_tables(&self) -> Vec<Arc<Resource>> {
        let mut found: Vec<Arc<Resource>> = Vec::new();
        for resource in self.resources.iter().filter(|one| one.namespaced && !one.is_review()) {
            if !found.iter().any(|one| one.table == resource.table) {
                found.push(Arc::clone(resource));
            }
        }
        found
    }

    pub(crate) fn replace_custom(&mut self, table: &str, versions: Vec<Resource>) {
        self.resources
            .retain(|one| !(one.table == table && matches!(one.origin, ResourceOrigin::Custom(_))));
        self.resources.extend(versions.into_iter().map(Arc::new));
    }

    pub(crate) fn groups(&self) -> Vec<(String, Vec<String>)> {
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        for resource in &self.resources {
            let known = groups.iter().position(|(group, _)| *group == resource.group);
            let at = known.unwrap_or_else(|| {
                groups.push((resource.group.clone(), Vec::new()));
                groups.len() - 1
            });
            if !groups[at].1.contains(&resource.version) {
                groups[at].1.push(resource.version.clone());
            }
        }
        for (_, versions) in &mut groups {
            versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
        }
        groups
    }
}

/// Orders versions: v2 before v1, v1 before v1beta1, v1beta2 before v1beta1, alpha last.
pub(crate) fn priority(version: &str) -> (u8, u32, u32) {
    let Some(rest) = version.strip_prefix('v') else { return (0, 0, 0) };
    let digits = |text: &str| text.parse::<u32>().ok();
    for (stage, word) in [(2, "beta"), (1, "alpha")] {
        if let Some((major, minor)) = rest.split_once(word) {
            return match (digits(major), digits(minor)) {
                (Some(major), Some(minor)) => (stage, major, minor),
                _ => (0, 0, 0),
            };
        }
    }
    digits(rest).map_or((0, 0, 0), |major| (3, major, 0))
}
