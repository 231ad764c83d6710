//! Reads and effects through the Kubernetes API.

use std::collections::BTreeMap;

use http::Method;
use mooring_k8s::Client;
use mooring_workflow::responses::{change, list, read};
use mooring_workflow::{EffectResult, Reading};
use serde_json::{Value, json};

use super::{OperatorCluster, OperatorView, Read, Unread};
use crate::effect::Effect;
use crate::helm::{ManifestObject, Revision};
use crate::objects::{
    BINDINGS, Binding, CRDS, Crd, DAEMON_SETS, Namespace, Object, Target, Workload, plural, root_of,
};
use crate::signs::{Lease, OperatorEvent, Webhook, has_ready_endpoint};

const CRD_LIST: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WORKLOADS: &str = "deployments.apps, statefulsets.apps and daemonsets.apps";
const HOOKS: &str = "validatingwebhookconfigurations and mutatingwebhookconfigurations.admissionregistration.k8s.io";
const MADE: &str = "the objects of the release's manifest";

/// Kinds of a group version: plural, and namespaced or not.
type Kinds = BTreeMap<String, (String, bool)>;

impl OperatorCluster {
    /// Makes all reads of a plan.
    pub(crate) async fn read_all(&self) -> &OperatorView {
        self.objects().await;
        self.workloads().await;
        self.leases().await;
        self.events().await;
        self.webhooks().await;
        self.bindings().await;
        self.made().await;
        self.namespace().await;
        self.contents().await;
        &self.view
    }

    pub(crate) async fn crds(&self) -> &Read<Vec<Crd>> {
        let reading = || async {
            if self.profile.groups.is_empty() {
                return Ok(Vec::new());
            }
            self.list(&self.api, CRDS, CRD_LIST, Crd::read).await
        };
        self.view.crds.get_or_init(reading).await
    }

    /// Reads the objects of the profile's CRDs. A CRD that serves no version may have some.
    pub(crate) async fn objects(&self) -> &[(Crd, Read<Vec<Object>>)] {
        let reading = || async {
            let mut objects = Vec::new();
            let crds = self.crds().await.iter().flatten();
            for crd in crds.filter(|crd| self.profile.has_group(&crd.group)) {
                objects.push((crd.clone(), self.objects_of(crd).await));
            }
            objects
        };
        self.view.objects.get_or_init(reading).await
    }

    pub(crate) async fn objects_of(&self, crd: &Crd) -> Read<Vec<Object>> {
        let root = crd.root().ok_or(Unread::NotServed)?;
        let path = format!("{root}/{}", plural(crd.name()));
        let read = |item: &Value| Object::read(crd.name(), &root, item);
        // Contents are read only for a backup.
        self.list(&self.api.metadata_only(), crd.name(), &path, read).await
    }

    /// Reads one whole object.
    pub(crate) async fn whole(&self, path: &str) -> Reading<Value> {
        read(&self.api, path, |body| Some(body.clone())).await
    }

    /// Reads workloads in the operator's namespace or with its name.
    pub(crate) async fn workloads(&self) -> &Read<Vec<Workload>> {
        let reading = || async {
            let mut workloads = Vec::new();
            for resource in ["deployments.apps", "statefulsets.apps", DAEMON_SETS] {
                let path = format!("/apis/apps/v1/{}", plural(resource));
                let read = |item: &Value| Workload::read(resource, item);
                workloads.extend(self.served(WORKLOADS, &path, read).await?);
            }
            let namespace = &self.profile.namespace;
            workloads.retain(|Workload { target, .. }| {
                let is_inside = namespace.is_some() && *namespace == target.namespace;
                is_inside || self.profile.is_named_in(&target.name)
            });
            Ok(workloads)
        };
        self.view.workloads.get_or_init(reading).await
    }

    pub(crate) async fn leases(&self) -> &Read<Vec<Lease>> {
        let lease = |item: &Value| {
            let member = |name: &str| item["metadata"][name].as_str();
            let [namespace, name] = &self.lock;
            let is_of_journal =
                member("namespace") == Some(namespace) && member("name") == Some(name);
            Lease::read(&self.profile, item).filter(|_| !is_of_journal)
        };
        let path = "/apis/coordination.k8s.io/v1/leases";
        let reading = || self.served("leases.coordination.k8s.io", path, lease);
        self.view.leases.get_or_init(reading).await
    }

    async fn events(&self) -> &Read<Vec<OperatorEvent>> {
        let event = |item: &Value| OperatorEvent::read(&self.profile, item);
        let reading = || self.served("events", "/api/v1/events", event);
        self.view.events.get_or_init(reading).await
    }

    /// Reads webhooks for the profile's groups, including conversion webhooks, and their endpoints.
    async fn webhooks(&self) -> &Read<Vec<Webhook>> {
        let reading = || async {
            let mut hooks = Vec::new();
            for resource in ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"] {
                let path = format!("/apis/admissionregistration.k8s.io/v1/{resource}");
                let read = |item: &Value| Webhook::of_configuration(&self.profile, item);
                hooks.extend(self.served(HOOKS, &path, read).await?.into_iter().flatten());
            }
            let read = |item: &Value| Webhook::of_crd(&self.profile, item);
            // Another check covers unreadable CRDs.
            hooks.extend(self.served(CRDS, CRD_LIST, read).await.unwrap_or_default());
            for hook in &mut hooks {
                if let Some((namespace, name)) = &hook.service {
                    hook.answers = self.answers(namespace, name).await;
                }
            }
            Ok(hooks)
        };
        self.view.webhooks.get_or_init(reading).await
    }

    /// Reads whether a Service has a ready endpoint.
    async fn answers(&self, namespace: &str, service: &str) -> Result<bool, String> {
        let path = format!(
            "/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D{service}"
        );
        let read = |body: &Value| items(body, |slice| Some(has_ready_endpoint(slice)));
        match served(list(&self.api, &path, read).await) {
            Reading::Known(slices) => Ok(slices.contains(&true)),
            missing => Err(missing.missing().unwrap_or_default()),
        }
    }

    pub(crate) async fn bindings(&self) -> &[(String, Read<Option<Binding>>)] {
        let reading = || async {
            let mut bindings = Vec::new();
            for name in &self.profile.cluster_role_bindings {
                let path = format!("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{name}");
                let resource = format!("{BINDINGS} {name}");
                let found = read(&self.api, &path, Binding::read).await;
                bindings.push((name.clone(), Unread::check("get", &resource, found)));
            }
            bindings
        };
        self.view.bindings.get_or_init(reading).await
    }

    /// Returns name and namespace of the release.
    fn release(&self) -> Option<(&str, &str)> {
        let release = self.profile.release.as_ref()?;
        Some((&release.name, release.namespace.as_deref().unwrap_or_default()))
    }

    pub(crate) async fn revisions(&self) -> &Read<Vec<Revision>> {
        let reading = || async {
            let Some((name, namespace)) = self.release() else { return Ok(Vec::new()) };
            let path = format!(
                "/api/v1/namespaces/{namespace}/secrets?labelSelector=owner%3Dhelm%2Cname%3D{name}"
            );
            self.list(&self.api, "secrets", &path, Revision::read).await
        };
        self.view.revisions.get_or_init(reading).await
    }

    /// Reads the existing objects of the latest manifest.
    pub(crate) async fn made(&self) -> &Read<Vec<Object>> {
        self.view.made.get_or_init(|| self.read_made()).await
    }

    async fn read_made(&self) -> Read<Vec<Object>> {
        let revisions = self.revisions().await.as_ref().map_err(|why| why.also("get", MADE))?;
        let Some((_, namespace)) = self.release() else { return Ok(Vec::new()) };
        let newest = revisions.iter().max_by_key(|revision| revision.revision);
        let mut made = Vec::new();
        let mut kinds: BTreeMap<&str, Kinds> = BTreeMap::new();
        for one in newest.iter().flat_map(|revision| &revision.resources) {
            let version = one.api_version.as_str();
            if !kinds.contains_key(version) {
                // A kind that is no longer served has no objects.
                let found = Unread::check("get", MADE, self.kinds(version).await)?;
                kinds.insert(version, found.unwrap_or_default());
            }
            let Some((plural, is_namespaced)) = kinds[version].get(&one.kind) else { continue };
            let namespace = one.namespace.as_deref().unwrap_or(namespace);
            let place = place(one, plural, is_namespaced.then_some(namespace));
            let parse = |body: &Value| {
                let uid = body["metadata"]["uid"].as_str()?.to_owned();
                Some(Object::of(Target { uid, ..place.clone() }, body))
            };
            made.extend(Unread::check("get", MADE, read(&self.api, &place.path, parse).await)?);
        }
        Ok(made)
    }

    async fn kinds(&self, api_version: &str) -> Reading<Kinds> {
        let kind = |one: &Value| {
            let name = one["name"].as_str().filter(|name| !name.contains('/'))?;
            Some((one["kind"].as_str()?.to_owned(), (name.to_owned(), one["namespaced"] == true)))
        };
        let parse =
            |body: &Value| Some(body["resources"].as_array()?.iter().filter_map(kind).collect());
        read(&self.api, &root_of(api_version), parse).await
    }

    pub(crate) async fn namespace(&self) -> &Read<Option<Namespace>> {
        let reading = || async {
            let Some(name) = &self.profile.namespace else { return Ok(None) };
            let path = format!("/api/v1/namespaces/{name}");
            Unread::check("get", "namespaces", read(&self.api, &path, Namespace::read).await)
        };
        self.view.namespace.get_or_init(reading).await
    }

    /// Reads the uid of the namespace kube-system, if permitted.
    pub(crate) async fn uid(&self) -> Option<String> {
        let answer = self.api.get("/api/v1/namespaces/kube-system").await.ok()?;
        let uid = answer.body.pointer("/metadata/uid").filter(|_| answer.is_success())?;
        uid.as_str().map(str::to_owned)
    }

    /// Reads a list; one that does not exist is empty.
    async fn list<T>(
        &self,
        api: &Client,
        resource: &str,
        path: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Read<Vec<T>> {
        let found = list(api, path, |body| items(body, &read)).await;
        Unread::check("list", resource, found).map(Option::unwrap_or_default)
    }

    /// Reads a list that every cluster serves.
    async fn served<T>(
        &self,
        resource: &str,
        path: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Read<Vec<T>> {
        let found = served(list(&self.api, path, |body| items(body, &read)).await);
        Unread::check("list", resource, found).map(Option::unwrap_or_default)
    }

    /// Applies an effect, without retries.
    pub(crate) async fn change(&self, effect: &Effect) -> EffectResult {
        let Target { path, uid, .. } = effect.target();
        match effect {
            Effect::Delete { .. } => {
                let body = json!({
                    "apiVersion": "v1", "kind": "DeleteOptions",
                    "preconditions": {"uid": uid}, "propagationPolicy": "Background",
                });
                change(&self.api, Method::DELETE, path, &body).await
            }
            // The server rejects the patch if uid or version differ.
            Effect::Strip { version, kept, .. } => {
                let body = json!({
                    "metadata": {"uid": uid, "resourceVersion": version, "finalizers": kept},
                });
                change(&self.api, Method::PATCH, path, &body).await
            }
            Effect::ScaleDown { .. } => {
                let body = json!({"metadata": {"uid": uid}, "spec": {"replicas": 0}});
                change(&self.api, Method::PATCH, &format!("{path}/scale"), &body).await
            }
        }
    }
}

/// Returns an object of a manifest, without its uid.
fn place(one: &ManifestObject, plural: &str, namespace: Option<&str>) -> Target {
    let group = one.api_version.split_once('/').map(|(group, _)| format!(".{group}"));
    let resource = format!("{plural}{}", group.unwrap_or_default());
    Target::new(&resource, &root_of(&one.api_version), namespace, &one.name, "")
}

/// Maps not found to unknown, for lists that every cluster serves.
fn served<T>(reading: Reading<Vec<T>>) -> Reading<Vec<T>> {
    match reading {
        Reading::NotFound => Reading::Failed("the API server does not serve it".to_owned()),
        other => other,
    }
}

/// Returns the valid entries of a list. An empty list of metadata has `null` items, at least in Kubernetes 1.20.
pub(super) fn items<T>(body: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    match &body["items"] {
        Value::Array(items) => Some(items.iter().filter_map(read).collect()),
        Value::Null if body["kind"].as_str()?.ends_with("List") => Some(Vec::new()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_with_null_items_is_empty_and_others_are_invalid() {
        let names = |body: &Value| items(body, |item| item.as_str().map(str::to_owned));
        assert_eq!(
            names(&json!({"kind": "PartialObjectMetadataList", "items": ["a", 1]})).unwrap(),
            ["a"]
        );
        for empty in [json!({"kind": "ThingList", "items": null}), json!({"kind": "ThingList"})] {
            assert_eq!(names(&empty), Some(Vec::new()));
        }
        for other in [
            json!({"kind": "Status"}),
            json!(null),
            json!({"items": null}),
            json!({"kind": "ThingList", "items": 1}),
        ] {
            assert_eq!(names(&other), None, "{other}");
        }
    }
}
