//! Reads and effects through the Kubernetes API.

use std::collections::BTreeMap;

use http::Method;
use jiff::Timestamp;
use mooring_workflow::reading::once;
use serde_json::{Value, json};

use crate::cluster::evidence::{
    Backend, Lease, OperatorEvent, Webhook, WebhookState, has_ready_endpoint,
};
use crate::cluster::helm::{ManifestObject, ReleaseObject, Revision};
use crate::cluster::observation::{
    Binding, CRDS, Crd, DAEMON_SETS, EXTENSIONS, LiveObject, Namespace, OperatorWorkload,
};
use crate::cluster::view::OperatorView;
use crate::operator::profile::Profile;
use crate::operator::target::Target;
use crate::removal::effect::Effect;
use mooring_k8s::Client;
use mooring_workflow::responses::{change, list, read};
use mooring_workflow::{Clock, EffectResult, Reading};

pub(crate) const WEBHOOKS: [&str; 2] =
    ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"];

#[derive(Clone)]
pub(crate) struct OperatorCluster {
    pub(crate) api: Client,
    pub(crate) profile: Profile,
    /// Namespace and name of the journal's Lease, which does not belong to the operator although it has its name.
    pub(crate) lock: [String; 2],
    pub(crate) clock: Clock,
}

impl OperatorCluster {
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    pub(crate) async fn crds(&self) -> Reading<Vec<Crd>> {
        let path = format!("{EXTENSIONS}/{}", plural(CRDS));
        list(&self.api, &path, |body| items(body, Crd::read)).await
    }

    pub(crate) async fn objects(&self, crd: &Crd) -> Reading<Vec<LiveObject>> {
        let (Some(path), Some(root)) = (crd.list(), crd.root()) else {
            return Reading::Failed("no version is served".to_owned());
        };
        let read = |body: &Value| items(body, |item| LiveObject::read(crd.name(), &root, item));
        // Contents are read only for a backup.
        list(&self.api.metadata_only(), &path, read).await
    }

    /// Reads one whole object.
    pub(crate) async fn whole(&self, path: &str) -> Reading<Value> {
        read(&self.api, path, |body| Some(body.clone())).await
    }

    pub(crate) async fn leases(&self) -> Reading<Vec<Lease>> {
        let read = |body: &Value| {
            items(body, |item| {
                let member = |name: &str| item["metadata"][name].as_str();
                let of_journal = member("namespace") == Some(&self.lock[0])
                    && member("name") == Some(&self.lock[1]);
                Lease::read(&self.profile, item).filter(|_| !of_journal)
            })
        };
        served(list(&self.api, "/apis/coordination.k8s.io/v1/leases", read).await)
    }

    async fn events(&self) -> Reading<Vec<OperatorEvent>> {
        let read = |body: &Value| items(body, |item| OperatorEvent::read(&self.profile, item));
        served(list(&self.api, "/api/v1/events", read).await)
    }

    pub(crate) async fn binding(&self, name: &str) -> Reading<Binding> {
        let path = format!("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{name}");
        read(&self.api, &path, Binding::read).await
    }

    pub(crate) async fn namespace(&self) -> Reading<Namespace> {
        let name = self.profile.namespace.as_deref().unwrap_or_default();
        read(&self.api, &format!("/api/v1/namespaces/{name}"), Namespace::read).await
    }

    /// Makes all reads of a plan.
    pub(crate) async fn read_all(&self) -> OperatorView {
        let view = OperatorView::default();
        let profile = &self.profile;
        if !profile.groups.is_empty() {
            let crds = once(&view.crds, self.crds()).await.known();
            let ours = crds.into_iter().flatten().filter(|crd| profile.has_group(&crd.group));
            for crd in ours.filter(|crd| crd.version.is_some()) {
                view.objects.once(crd.name(), self.objects(crd)).await;
            }
        }
        once(&view.controllers, self.controllers()).await;
        once(&view.leases, self.leases()).await;
        once(&view.events, self.events()).await;
        once(&view.webhooks, self.webhooks()).await;
        for name in &profile.cluster_role_bindings {
            view.bindings.once(name, self.binding(name)).await;
        }
        if profile.release.is_some() {
            once(&view.release, self.revisions()).await;
            once(&view.made, self.made()).await;
        }
        if profile.namespace.is_some() {
            once(&view.namespace, self.namespace()).await;
            once(&view.contents, self.contents()).await;
        }
        view
    }

    /// Reads workloads in the operator's namespace or with its name.
    pub(crate) async fn controllers(&self) -> Reading<Vec<OperatorWorkload>> {
        let mut all = Vec::new();
        for resource in ["deployments.apps", "statefulsets.apps", DAEMON_SETS] {
            let path = format!("/apis/apps/v1/{}", plural(resource));
            let read = |body: &Value| items(body, |item| OperatorWorkload::read(resource, item));
            match served(list(&self.api, &path, read).await) {
                Reading::Known(found) => all.extend(found),
                missing => return missing,
            }
        }
        all.retain(|one| self.profile.has_workload(&one.target));
        Reading::Known(all)
    }

    /// Reads webhooks for the profile's groups, including conversion webhooks, and their endpoints.
    async fn webhooks(&self) -> Reading<Vec<WebhookState>> {
        self.read_webhooks().await.map_or_else(|missing| missing, Reading::Known)
    }

    async fn read_webhooks(&self) -> Result<Vec<WebhookState>, Reading<Vec<WebhookState>>> {
        let known = |reading: Reading<Vec<Webhook>>| match served(reading) {
            Reading::Known(found) => Ok(found),
            missing => Err(missing.map(|_| Vec::new())),
        };
        let mut all = Vec::new();
        for resource in WEBHOOKS {
            let path = format!("/apis/admissionregistration.k8s.io/v1/{resource}");
            let read = |body: &Value| {
                let all = items(body, |item| Webhook::of_configuration(&self.profile, item))?;
                Some(all.into_iter().flatten().collect())
            };
            all.extend(known(list(&self.api, &path, read).await)?);
        }
        let path = format!("{EXTENSIONS}/{}", plural(CRDS));
        let read = |body: &Value| items(body, |item| Webhook::of_crd(&self.profile, item));
        // Another check covers unreadable CRDs.
        all.extend(known(list(&self.api, &path, read).await).unwrap_or_default());
        let mut states = Vec::new();
        for Webhook { name, backend } in all {
            let answers = match backend {
                Backend::Url => Reading::Failed("its URL may be anywhere".to_owned()),
                Backend::Service(namespace, service) => self.answers(&namespace, &service).await,
            };
            states.push(WebhookState { name, answers });
        }
        Ok(states)
    }

    async fn answers(&self, namespace: &str, service: &str) -> Reading<bool> {
        let path = format!(
            "/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D{service}"
        );
        let read = |body: &Value| items(body, |slice| Some(has_ready_endpoint(slice)));
        served(list(&self.api, &path, read).await).map(|slices| slices.contains(&true))
    }

    pub(crate) async fn revisions(&self) -> Reading<Vec<Revision>> {
        let Some(release) = &self.profile.release else { return Reading::NotFound };
        let namespace = release.namespace.as_deref().unwrap_or_default();
        let path = format!(
            "/api/v1/namespaces/{namespace}/secrets?labelSelector=owner%3Dhelm%2Cname%3D{}",
            release.name
        );
        list(&self.api, &path, |body| items(body, Revision::read)).await
    }

    /// Reads the existing objects of the latest manifest.
    pub(crate) async fn made(&self) -> Reading<Vec<ReleaseObject>> {
        self.read_made().await.map_or_else(|missing| missing, Reading::Known)
    }

    async fn read_made(&self) -> Result<Vec<ReleaseObject>, Reading<Vec<ReleaseObject>>> {
        let revisions = self.revisions().await.found()?.unwrap_or_default();
        let Some(release) = &self.profile.release else { return Err(Reading::NotFound) };
        let namespace = release.namespace.as_deref().unwrap_or_default();
        let newest = revisions.into_iter().max_by_key(|revision| revision.revision);
        let mut made = Vec::new();
        let mut kinds = BTreeMap::new();
        for resource in newest.iter().flat_map(|revision| &revision.resources) {
            if !kinds.contains_key(&resource.api_version) {
                // A kind that is no longer served has no objects.
                let found = self.kinds(&resource.api_version).await.found()?.unwrap_or_default();
                kinds.insert(resource.api_version.clone(), found);
            }
            let Some((name, namespaced)) = kinds[&resource.api_version].get(&resource.kind) else {
                continue;
            };
            let target = place(resource, name, *namespaced, namespace);
            let parse = |body: &Value| {
                let uid = body["metadata"]["uid"].as_str()?.to_owned();
                Some(ReleaseObject::read(
                    Target { uid, ..target.clone() },
                    body,
                    &release.name,
                    namespace,
                ))
            };
            made.extend(read(&self.api, &target.path, parse).await.found()?);
        }
        Ok(made)
    }

    /// Reads the kinds of a group version: plural, and namespaced or not.
    async fn kinds(&self, api_version: &str) -> Reading<BTreeMap<String, (String, bool)>> {
        read(&self.api, &root_of(api_version), |body| {
            let resources = body["resources"].as_array()?.iter();
            let whole = resources.filter_map(|one| {
                let name = one["name"].as_str().filter(|name| !name.contains('/'))?;
                Some((
                    one["kind"].as_str()?.to_owned(),
                    (name.to_owned(), one["namespaced"] == true),
                ))
            });
            Some(whole.collect())
        })
        .await
    }

    /// Applies an effect, without retries.
    pub(crate) async fn change(&self, effect: &Effect) -> EffectResult {
        let path = &effect.target().path;
        let uid = &effect.target().uid;
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

fn place(resource: &ManifestObject, plural: &str, namespaced: bool, release: &str) -> Target {
    let group = resource.api_version.split_once('/').map(|(group, _)| group);
    let qualified = group.map_or_else(|| plural.to_owned(), |group| format!("{plural}.{group}"));
    let namespace = resource.namespace.as_deref().unwrap_or(release);
    let root = root_of(&resource.api_version);
    Target::new(&qualified, &root, namespaced.then_some(namespace), &resource.name, "")
}

pub(crate) fn root_of(api_version: &str) -> String {
    if api_version.contains('/') {
        format!("/apis/{api_version}")
    } else {
        format!("/api/{api_version}")
    }
}

pub(crate) fn plural(resource: &str) -> &str {
    resource.split('.').next().unwrap_or(resource)
}

/// Maps not found to unknown, for lists that every cluster serves.
fn served<T>(reading: Reading<Vec<T>>) -> Reading<Vec<T>> {
    match reading {
        Reading::NotFound => Reading::Failed("the API server does not serve it".to_owned()),
        other => other,
    }
}

/// Returns the valid entries of a list. An empty list of metadata has `null` items, at least in Kubernetes 1.20.
pub(crate) fn items<T>(body: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
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
