//! CRDs: established once their names are accepted, and deleted only after their objects.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::kubernetes::api::state::{
    Custom, CustomColumn, FieldError, Resource, ResourceOrigin, Schema, api_version,
};
use crate::kubernetes::store::objects::{self, flag, list, text, texts};

/// Finalizer that keeps a CRD until its objects are deleted.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Returns the errors of a CRD, as far as clients meet them.
pub(crate) fn check_definition(value: &mut Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let expected = format!(
        "{}.{}",
        text(value, &["spec", "names", "plural"]),
        text(value, &["spec", "group"])
    );
    let name = objects::name(value).to_owned();
    if name != expected {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        errors.push(FieldError::invalid("metadata.name", &name.into(), detail));
    }
    let group = text(value, &["spec", "group"]);
    let protected = [".k8s.io", ".kubernetes.io"].iter().any(|end| group.ends_with(end));
    let approval = "api-approved.kubernetes.io";
    if protected && text(value, &["metadata", "annotations", approval]).is_empty() {
        let field = format!("metadata.annotations[{approval}]");
        errors.push(FieldError::required(&field, "protected groups must have approval annotation"));
    }
    let versions = list(value, &["spec", "versions"]);
    if versions.iter().filter(|version| flag(version, &["storage"])).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid("spec.versions", &json!(null), detail));
    }
    for (n, version) in versions.iter().enumerate() {
        if objects::at(version, &["schema", "openAPIV3Schema"]).is_none() {
            let field = format!("spec.versions[{n}].schema.openAPIV3Schema");
            errors.push(FieldError::required(&field, "schemas are required"));
        }
    }
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
    errors
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
                warning: flag(version, &["deprecated"]).then(|| warning(spec, version)),
                schema: Schema::read(&version["schema"]["openAPIV3Schema"]),
                columns: list(version, &["additionalPrinterColumns"]).iter().map(column).collect(),
            })),
        })
        .collect()
}

fn warning(spec: &Value, version: &Value) -> String {
    let own = text(version, &["deprecationWarning"]);
    if !own.is_empty() {
        return own.to_owned();
    }
    let version = api_version(text(spec, &["group"]), text(version, &["name"]));
    format!("{version} {} is deprecated", text(spec, &["names", "kind"]))
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
