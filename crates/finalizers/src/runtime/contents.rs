//! Reads the contents of the operator's namespace.

use serde_json::Value;

use super::api::{OperatorCluster, items, root_of};
use super::dependents::listable;
use crate::cluster::contents::{Content, Contents};
use mooring_workflow::Reading;
use mooring_workflow::responses::list;

impl OperatorCluster {
    /// Lists the metadata of all objects of the namespace. A kind that cannot be listed is unknown, also if it is not found.
    pub(crate) async fn contents(&self) -> Reading<Contents> {
        let Some(namespace) = &self.profile.namespace else { return Reading::NotFound };
        let versions = match self.group_versions().await {
            Ok(versions) => versions,
            Err(why) => return Reading::Failed(why),
        };
        let metadata = self.api.metadata_only();
        let mut contents = Contents::default();
        for api_version in versions {
            let root = root_of(&api_version);
            let kinds = match listable(&self.api, &root).await {
                Ok(kinds) => kinds,
                Err(why) => {
                    contents.unread.push(format!("the kinds of {api_version} are unknown: {why}"));
                    continue;
                }
            };
            for kind in kinds.into_iter().filter(|kind| kind.namespaced) {
                let qualified = kind.qualified(&api_version);
                let path = format!("{root}/namespaces/{namespace}/{}", kind.plural);
                let read =
                    |body: &Value| items(body, |item| Some(Content::read(&qualified, &root, item)));
                match list(&metadata, &path, read).await {
                    Reading::Known(found) => contents.objects.extend(found.into_iter().flatten()),
                    missing => {
                        let why = missing.missing().unwrap_or_default();
                        contents.unread.push(format!("{qualified} in {namespace} {why}"));
                    }
                }
            }
        }
        // Some are served by two API groups.
        contents.objects.sort_by(|one, other| one.target.cmp(&other.target));
        let mut seen = std::collections::BTreeSet::new();
        contents.objects.retain(|one| seen.insert(one.target.uid.clone()));
        Reading::Known(contents)
    }
}
