//! CRDs: established once their names are accepted, and deleted only after their objects.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::kubernetes::api::state::{
    Custom, CustomColumn, Resource, ResourceOrigin, Schema, api_version,
};
use crate::kubernetes::store::objects::{self, flag, list, text, texts};

/// Finalizer that keeps a CRD until its objects are deleted.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Sets the names that a CRD leaves out.
pub(crate) fn complete_definition(value: &mut Value) {
    let kind = text(value, &["spec", "names", "kind"]).to_owned();
    for (member, default) in
        [("singular", kind.to_ascii_lowercase()), ("listKind", format!("{kind}List"))]
    {
        if text(value, &["spec", "names", member]).is_empty() {
            objects::set(value, &["spec", "names", member], default);
        }
    }
    if objects::at(value, &["spec", "conversion"]).is_none() {
        objects::set(value, &["spec", "conversion"], json!({"strategy": "None"}));
    }
}

/// Returns the resources of a CRD, one for each served version.
pub(crate) fn resources(definition: &Value) -> Vec<Resource> {
    let spec = &definition["spec"];
    let group = text(spec, &["group"]);
    let versions = list(spec, &["versions"]);
    let storage = versions.iter().find(|version| flag(version, &["storage"]));
    let stored_as = api_version(group, storage.map_or("", |version| text(version, &["name"])));
    let names = |member: &str| texts(spec, &["names", member]).map(str::to_owned).collect();
    let served = versions.iter().filter(|version| flag(version, &["served"]));
    served
        .map(|version| Resource {
            group: group.to_owned(),
            version: text(version, &["name"]).to_owned(),
            plural: text(spec, &["names", "plural"]).to_owned(),
            singular: text(spec, &["names", "singular"]).to_owned(),
            kind: text(spec, &["names", "kind"]).to_owned(),
            list_kind: text(spec, &["names", "listKind"]).to_owned(),
            namespaced: text(spec, &["scope"]) == "Namespaced",
            short_names: names("shortNames"),
            categories: names("categories"),
            table: objects::name(definition).to_owned(),
            stored_as: stored_as.clone(),
            generation: true,
            status: objects::at(version, &["subresources", "status"]).is_some(),
            subresources: Vec::new(),
            origin: ResourceOrigin::Custom(Arc::new(Custom {
                schema: Schema::read(&version["schema"]["openAPIV3Schema"]),
                columns: list(version, &["additionalPrinterColumns"]).iter().map(column).collect(),
            })),
        })
        .collect()
}

fn column(value: &Value) -> CustomColumn {
    CustomColumn {
        name: text(value, &["name"]).to_owned(),
        kind: text(value, &["type"]).to_owned(),
        description: text(value, &["description"]).to_owned(),
        priority: objects::number(value, &["priority"]).unwrap_or(0),
        path: text(value, &["jsonPath"]).to_owned(),
    }
}
