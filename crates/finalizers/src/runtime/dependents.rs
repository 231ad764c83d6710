//! Reads dependents and obstacles for the plan.

use serde_json::Value;

use super::api::{OperatorCluster, WEBHOOKS, items, plural, root_of};
use crate::plan::{Dependent, Dependents, api_service_note, webhook_note};
use mooring_kube::Client;
use mooring_workflow::Reading;
use mooring_workflow::responses::list;

/// Short-lived objects that do not matter as dependents.
const IGNORED: [&str; 3] = ["events", "leases", "endpointslices"];

impl OperatorCluster {
    /// `objects` is true if dependents matter.
    pub(super) async fn read_dependents(&self, objects: bool) -> Dependents {
        // Empty if it cannot be read, which blocks.
        let cluster = self.uid().await.unwrap_or_default();
        let mut around = Dependents { cluster, ..Dependents::default() };
        for resource in WEBHOOKS {
            let path = format!("/apis/admissionregistration.k8s.io/v1/{resource}");
            let read = |body: &Value| items(body, |item| webhook_note(&self.profile, item));
            self.note(&path, resource, read, &mut around).await;
        }
        let read = |body: &Value| items(body, api_service_note);
        self.note("/apis/apiregistration.k8s.io/v1/apiservices", "apiservices", read, &mut around)
            .await;
        if objects {
            self.dependents(&mut around).await;
        }
        around
    }

    /// Reads the uid of the namespace kube-system, if permitted.
    pub(super) async fn uid(&self) -> Option<String> {
        let answer = self.api.get("/api/v1/namespaces/kube-system").await.ok()?;
        let uid = answer.body.pointer("/metadata/uid").filter(|_| answer.is_success())?;
        uid.as_str().map(str::to_owned)
    }

    async fn note(
        &self,
        path: &str,
        resource: &str,
        read: impl Fn(&Value) -> Option<Vec<String>>,
        around: &mut Dependents,
    ) {
        match list(&self.api, path, read).await {
            Reading::Known(notes) => around.notes.extend(notes),
            Reading::NotFound => {}
            missing => {
                around
                    .unread
                    .push(format!("{resource}: {}", missing.missing().unwrap_or_default()));
            }
        }
    }

    /// Reads the metadata of all objects with an owner, by kind.
    async fn dependents(&self, around: &mut Dependents) {
        let metadata = self.api.metadata_only();
        for api_version in self.group_versions(around).await {
            let root = root_of(&api_version);
            let resources = match listable(&self.api, &root).await {
                Ok(resources) => resources,
                Err(why) => {
                    around
                        .unread
                        .push(format!("dependents in {api_version} could not be read: {why}"));
                    continue;
                }
            };
            let group = api_version.split_once('/').map(|(group, _)| group);
            for name in resources {
                let qualified =
                    group.map_or_else(|| name.clone(), |group| format!("{name}.{group}"));
                let read = |body: &Value| items(body, |item| Dependent::read(&qualified, item));
                match list(&metadata, &format!("{root}/{name}"), read).await {
                    Reading::Known(owned) => around.owned.extend(owned),
                    Reading::NotFound => {}
                    missing => around.unread.push(format!(
                        "dependents of kind {qualified} are unknown: {}",
                        missing.missing().unwrap_or_default()
                    )),
                }
            }
        }
        // Some are served by two API groups.
        around.owned.sort();
        around.owned.dedup_by(|one, other| one.uid == other.uid);
    }

    /// Returns the preferred version of every group.
    async fn group_versions(&self, around: &mut Dependents) -> Vec<String> {
        let mut versions = vec!["v1".to_owned()];
        match self.api.get("/apis").await {
            Ok(answer) if answer.is_success() => {
                let groups =
                    answer.body["groups"].as_array().map(Vec::as_slice).unwrap_or_default();
                versions.extend(groups.iter().filter_map(|group| {
                    group["preferredVersion"]["groupVersion"].as_str().map(str::to_owned)
                }));
            }
            _ => {
                around
                    .unread
                    .push("API groups could not be read: dependents are unknown".to_owned());
            }
        }
        versions
    }
}

async fn listable(api: &Client, root: &str) -> Result<Vec<String>, String> {
    let answer = api.get(root).await.map_err(|lost| lost.0)?;
    if !answer.is_success() {
        return Err(answer.refusal().0);
    }
    let resources = answer.body["resources"].as_array().map(Vec::as_slice).unwrap_or_default();
    let lists = |one: &&Value| {
        one["verbs"].as_array().is_some_and(|verbs| verbs.iter().any(|verb| verb == "list"))
    };
    let names = resources.iter().filter(lists).filter_map(|one| one["name"].as_str());
    Ok(names
        .filter(|name| !name.contains('/') && !IGNORED.contains(&plural(name)))
        .map(str::to_owned)
        .collect())
}
