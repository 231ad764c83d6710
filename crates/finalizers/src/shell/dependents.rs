//! What stands around the operator, for the plan.

use serde_json::Value;

use super::api::{Cluster, WEBHOOKS, items, plural, root_of};
use crate::plan::{Dependent, Dependents, api_service_note, webhook_note};
use mooring_kube::Client;
use mooring_workflow::Reading;
use mooring_workflow::responses::list;

/// Come and go by themselves, in great numbers, and mean nothing to an owner.
const NOISE: [&str; 3] = ["events", "leases", "endpointslices"];

impl Cluster {
    /// Looks around; `objects` says whether there is anything whose dependents matter.
    pub(super) async fn look_around(&self, objects: bool) -> Dependents {
        let mut around = Dependents::default();
        // Where it cannot be read, it stays empty, which no check passes.
        if let Ok(answer) = self.api.get("/api/v1/namespaces/kube-system").await
            && let Some(uid) = answer.body["metadata"]["uid"].as_str()
        {
            uid.clone_into(&mut around.cluster);
        }
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
                around.notes.push(format!("{resource}: {}", missing.missing().unwrap_or_default()));
            }
        }
    }

    /// Everything in the cluster that is owned by something: its metadata alone, kind by kind.
    async fn dependents(&self, around: &mut Dependents) {
        let metadata = self.api.metadata_only();
        for api_version in self.group_versions(around).await {
            let root = root_of(&api_version);
            let resources = match listable(&self.api, &root).await {
                Ok(resources) => resources,
                Err(why) => {
                    around
                        .notes
                        .push(format!("what {api_version} owns could not be looked at: {why}"));
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
                    missing => around.notes.push(format!(
                        "whether any {qualified} go along is not known: {}",
                        missing.missing().unwrap_or_default()
                    )),
                }
            }
        }
        // Some are served by two groups.
        around.owned.sort();
        around.owned.dedup_by(|one, other| one.uid == other.uid);
    }

    /// One version of every group, the preferred one.
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
            _ => around.notes.push(
                "the API's groups could not be read: what goes along is not known".to_owned(),
            ),
        }
        versions
    }
}

/// The resources of a group version that can be listed.
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
        .filter(|name| !name.contains('/') && !NOISE.contains(&plural(name)))
        .map(str::to_owned)
        .collect())
}
