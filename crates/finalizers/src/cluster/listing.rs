//! Objects of all kinds: what is in the namespace, and what depends on the deleted objects.

use std::collections::BTreeSet;

use mooring_workflow::Reading;
use mooring_workflow::responses::list;
use serde_json::Value;

use super::reads::items;
use super::{OperatorCluster, Read, Unread};
use crate::contents::{Contents, SHORT_LIVED};
use crate::dependents::{Dependents, api_service_note, webhook_note};
use crate::objects::{Object, root_of};

/// What was not listed.
enum Unlisted {
    /// An API version whose kinds are unknown, and why.
    Kinds(String, String),
    /// A resource.
    Objects(String, Reading<()>),
}

impl OperatorCluster {
    /// Lists the metadata of all objects of the namespace. A kind that cannot be listed is unknown, also if it is not found.
    pub(crate) async fn contents(&self) -> &Read<Option<Contents>> {
        let reading = || async {
            let Some(namespace) = &self.profile.namespace else { return Ok(None) };
            let failed =
                |why| Unread::Failed("list", "the contents of the namespace".to_owned(), why);
            let (objects, unlisted) =
                self.all_objects(Some(namespace), &[], |_| true).await.map_err(failed)?;
            let why = |unlisted| match unlisted {
                Unlisted::Kinds(version, why) => {
                    format!("the kinds of {version} are unknown: {why}")
                }
                Unlisted::Objects(resource, reading) => {
                    format!("{resource} in {namespace} {}", reading.missing().unwrap_or_default())
                }
            };
            Ok(Some(Contents { objects, unread: unlisted.into_iter().map(why).collect() }))
        };
        self.view.contents.get_or_init(reading).await
    }

    /// Reads dependents and obstacles for the plan. `objects` is true if dependents matter.
    pub(crate) async fn read_dependents(&self, objects: bool) -> Dependents {
        // Empty if it cannot be read, which blocks.
        let cluster = self.uid().await.unwrap_or_default();
        let mut around = Dependents { cluster, ..Dependents::default() };
        for resource in ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"] {
            let path = format!("/apis/admissionregistration.k8s.io/v1/{resource}");
            let note = |item: &Value| webhook_note(&self.profile, item);
            self.note(&path, note, &mut around).await;
        }
        let path = "/apis/apiregistration.k8s.io/v1/apiservices";
        self.note(path, api_service_note, &mut around).await;
        if !objects {
            return around;
        }
        let is_owned = |one: &Object| !one.owners.is_empty();
        let (owned, unlisted) = match self.all_objects(None, &SHORT_LIVED, is_owned).await {
            Ok(found) => found,
            Err(why) => {
                around.unread.push(format!("{why}: dependents are unknown"));
                return around;
            }
        };
        around.owned = owned;
        around.unread.extend(unlisted.into_iter().filter_map(|unlisted| match unlisted {
            Unlisted::Kinds(version, why) => {
                Some(format!("dependents in {version} could not be read: {why}"))
            }
            Unlisted::Objects(resource, reading) => {
                let why = reading.error()?;
                Some(format!("dependents of kind {resource} are unknown: {why}"))
            }
        }));
        around
    }

    async fn note(
        &self,
        path: &str,
        note: impl Fn(&Value) -> Option<String>,
        around: &mut Dependents,
    ) {
        match list(&self.api, path, |body| items(body, &note)).await {
            Reading::Known(notes) => around.notes.extend(notes),
            Reading::NotFound => {}
            missing => {
                let resource = path.rsplit('/').next().unwrap_or_default();
                around
                    .unread
                    .push(format!("{resource}: {}", missing.missing().unwrap_or_default()));
            }
        }
    }

    /// Lists the metadata of all objects by kind, of the preferred version of each group, in one namespace or in all.
    async fn all_objects(
        &self,
        namespace: Option<&str>,
        skipped: &[&str],
        is_wanted: impl Fn(&Object) -> bool,
    ) -> Result<(Vec<Object>, Vec<Unlisted>), String> {
        let answer = self.api.get("/apis").await.ok().filter(mooring_k8s::Response::is_success);
        let answer = answer.ok_or("the API groups could not be read")?;
        let groups = answer.body["groups"].as_array().into_iter().flatten();
        let preferred =
            groups.filter_map(|group| group["preferredVersion"]["groupVersion"].as_str());
        let metadata = self.api.metadata_only();
        let (mut objects, mut unlisted) = (Vec::new(), Vec::new());
        for version in ["v1"].into_iter().chain(preferred) {
            let root = root_of(version);
            let kinds = match self.kinds_with_list(&root, namespace.is_some()).await {
                Ok(kinds) => kinds,
                Err(why) => {
                    unlisted.push(Unlisted::Kinds(version.to_owned(), why));
                    continue;
                }
            };
            let group = version.split_once('/').map(|(group, _)| format!(".{group}"));
            for kind in kinds.iter().filter(|kind| !skipped.contains(&kind.as_str())) {
                let resource = format!("{kind}{}", group.as_deref().unwrap_or_default());
                let place = namespace.map(|namespace| format!("/namespaces/{namespace}"));
                let path = format!("{root}{}/{kind}", place.unwrap_or_default());
                let read =
                    |item: &Value| Some(Object::read(&resource, &root, item).filter(&is_wanted));
                match list(&metadata, &path, |body| items(body, read)).await {
                    Reading::Known(found) => objects.extend(found.into_iter().flatten()),
                    missing => unlisted.push(Unlisted::Objects(resource, missing.outcome())),
                }
            }
        }
        // Some are served by two API groups.
        objects.sort_by(|one, other| one.target.cmp(&other.target));
        let mut seen = BTreeSet::new();
        objects.retain(|one| seen.insert(one.target.uid.clone()));
        Ok((objects, unlisted))
    }

    /// Returns the plurals of the kinds that can be listed.
    async fn kinds_with_list(
        &self,
        root: &str,
        is_namespaced: bool,
    ) -> Result<Vec<String>, String> {
        let answer = self.api.get(root).await.map_err(|lost| lost.0)?;
        if !answer.is_success() {
            return Err(answer.refusal().0);
        }
        let kinds = answer.body["resources"].as_array().into_iter().flatten().filter(|kind| {
            let mut verbs = kind["verbs"].as_array().into_iter().flatten();
            verbs.any(|verb| verb == "list") && (!is_namespaced || kind["namespaced"] == true)
        });
        let names = kinds.filter_map(|kind| kind["name"].as_str());
        Ok(names.filter(|name| !name.contains('/')).map(str::to_owned).collect())
    }
}
