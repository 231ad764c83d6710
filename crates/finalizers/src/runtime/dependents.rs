//! Reads dependents and obstacles for the plan.

use serde_json::Value;

use super::api::{OperatorCluster, WEBHOOKS, items, root_of};
use crate::plan::{Dependent, Dependents, api_service_note, webhook_note};
use mooring_k8s::{Client, Response};
use mooring_workflow::Reading;
use mooring_workflow::responses::list;

/// Short-lived objects that do not matter as dependents.
const IGNORED: [&str; 3] = ["events", "leases", "endpointslices"];

impl OperatorCluster {
    /// `objects` is true if dependents matter.
    pub(crate) async fn read_dependents(&self, objects: bool) -> Dependents {
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
    pub(crate) async fn uid(&self) -> Option<String> {
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
        let versions = match self.group_versions().await {
            Ok(versions) => versions,
            Err(why) => {
                around.unread.push(format!("{why}: dependents are unknown"));
                return;
            }
        };
        for api_version in versions {
            let root = root_of(&api_version);
            let kinds = match listable(&self.api, &root).await {
                Ok(kinds) => kinds,
                Err(why) => {
                    around
                        .unread
                        .push(format!("dependents in {api_version} could not be read: {why}"));
                    continue;
                }
            };
            for kind in kinds.iter().filter(|kind| !IGNORED.contains(&kind.plural.as_str())) {
                let qualified = kind.qualified(&api_version);
                let read = |body: &Value| items(body, |item| Dependent::read(&qualified, item));
                match list(&metadata, &format!("{root}/{}", kind.plural), read).await {
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
    pub(crate) async fn group_versions(&self) -> Result<Vec<String>, String> {
        let answer = self.api.get("/apis").await.ok().filter(Response::is_success);
        let answer = answer.ok_or("the API groups could not be read")?;
        let groups = answer.body["groups"].as_array().map(Vec::as_slice).unwrap_or_default();
        let preferred = groups.iter().filter_map(|group| {
            group["preferredVersion"]["groupVersion"].as_str().map(str::to_owned)
        });
        Ok(["v1".to_owned()].into_iter().chain(preferred).collect())
    }
}

/// A resource that can be listed.
pub(crate) struct Kind {
    pub(crate) plural: String,
    pub(crate) namespaced: bool,
}

impl Kind {
    /// Returns `deployments.apps`.
    pub(crate) fn qualified(&self, api_version: &str) -> String {
        match api_version.split_once('/') {
            Some((group, _)) => format!("{}.{group}", self.plural),
            None => self.plural.clone(),
        }
    }
}

pub(crate) async fn listable(api: &Client, root: &str) -> Result<Vec<Kind>, String> {
    let answer = api.get(root).await.map_err(|lost| lost.0)?;
    if !answer.is_success() {
        return Err(answer.refusal().0);
    }
    let resources = answer.body["resources"].as_array().map(Vec::as_slice).unwrap_or_default();
    let lists = |one: &&Value| {
        one["verbs"].as_array().is_some_and(|verbs| verbs.iter().any(|verb| verb == "list"))
    };
    let kind = |one: &Value| {
        let plural = one["name"].as_str().filter(|name| !name.contains('/'))?.to_owned();
        Some(Kind { plural, namespaced: one["namespaced"] == true })
    };
    Ok(resources.iter().filter(lists).filter_map(kind).collect())
}
