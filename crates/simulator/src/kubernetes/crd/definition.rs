//! Definitions: established once their names are accepted, and gone only after their objects.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::TABLE;
use super::schema::Schema;
use crate::kubernetes::delete::DeleteOptions;
use crate::kubernetes::inside::Writer;
use crate::kubernetes::model::Kubernetes;
use crate::kubernetes::objects::{self, Key, flag, list, text};
use crate::kubernetes::resources::{Custom, CustomColumn, Nature, Resource, api_version};
use crate::kubernetes::status_error::FieldError;

/// Keeps a definition until its objects are gone.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// What is wrong with a definition, as far as it matters here.
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

/// The resources of a definition, one for each served version.
fn resources(definition: &Value) -> Vec<Resource> {
    let spec = &definition["spec"];
    let group = text(spec, &["group"]);
    let versions = list(spec, &["versions"]);
    let storage = versions.iter().find(|version| flag(version, &["storage"]));
    let stored_as = api_version(group, storage.map_or("", |version| text(version, &["name"])));
    let texts = |path: &[&str]| -> Vec<String> {
        list(spec, path).iter().filter_map(|one| one.as_str().map(str::to_owned)).collect()
    };
    let served = versions.iter().filter(|version| flag(version, &["served"]));
    served
        .map(|version| {
            let scale = objects::at(version, &["subresources", "scale"]);
            Resource {
                group: group.to_owned(),
                version: text(version, &["name"]).to_owned(),
                plural: text(spec, &["names", "plural"]).to_owned(),
                singular: text(spec, &["names", "singular"]).to_owned(),
                kind: text(spec, &["names", "kind"]).to_owned(),
                list_kind: text(spec, &["names", "listKind"]).to_owned(),
                namespaced: text(spec, &["scope"]) == "Namespaced",
                short_names: texts(&["names", "shortNames"]),
                categories: texts(&["names", "categories"]),
                table: objects::name(definition).to_owned(),
                stored_as: stored_as.clone(),
                generation: true,
                status: objects::at(version, &["subresources", "status"]).is_some(),
                subresources: if scale.is_some() { vec!["scale"] } else { Vec::new() },
                kind_of_thing: Nature::Custom(Arc::new(Custom {
                    warning: flag(version, &["deprecated"]).then(|| warning(spec, version)),
                    schema: Schema::read(&version["schema"]["openAPIV3Schema"]),
                    columns: list(version, &["additionalPrinterColumns"])
                        .iter()
                        .map(column)
                        .collect(),
                    scale: scale.map(|scale| {
                        ["specReplicasPath", "statusReplicasPath", "labelSelectorPath"]
                            .map(|name| text(scale, &[name]).to_owned())
                    }),
                })),
            }
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

impl Kubernetes {
    /// Serves what a definition says now, and says so in its status.
    pub(crate) fn definition_changed(&mut self, definition: &Value, now: Timestamp) {
        let table = objects::name(definition).to_owned();
        let going = objects::is_being_deleted(definition);
        self.catalogue.replace_custom(&table, resources(definition));
        let mut value = definition.clone();
        if going {
            objects::set_condition(
                &mut value,
                "Terminating",
                "True",
                "InstanceDeletionInProgress",
                "CustomResource deletion is in progress",
                now,
            );
            self.timers.removed_definitions.insert(table);
        } else {
            let finalizers: Vec<&str> = objects::finalizers(definition).collect();
            if !finalizers.contains(&CLEANUP) {
                let mut finalizers: Vec<String> =
                    finalizers.iter().map(|&one| one.to_owned()).collect();
                finalizers.push(CLEANUP.to_owned());
                objects::set(&mut value, &["metadata", "finalizers"], finalizers);
            }
            let conditions = [
                ("NamesAccepted", "NoConflicts", "no conflicts found"),
                ("Established", "InitialNamesAccepted", "the initial names have been accepted"),
            ];
            for (kind, reason, message) in conditions {
                objects::set_condition(&mut value, kind, "True", reason, message, now);
            }
            let names = value["spec"]["names"].clone();
            objects::set(&mut value, &["status", "acceptedNames"], names);
            let storage = list(definition, &["spec", "versions"])
                .iter()
                .find(|version| flag(version, &["storage"]))
                .map(|version| version["name"].clone());
            let mut stored = list(definition, &["status", "storedVersions"]).to_vec();
            stored.extend(storage.filter(|storage| !stored.contains(storage)));
            objects::set(&mut value, &["status", "storedVersions"], stored);
        }
        if value != *definition {
            self.store_object(TABLE, value, now, None);
        }
    }

    pub(crate) fn definition_gone(&mut self, definition: &Value) {
        let table = objects::name(definition);
        self.catalogue.replace_custom(table, Vec::new());
        self.end_watches_of(table);
        self.store.drop_table(table);
        self.timers.removed_definitions.remove(table);
    }

    /// Deletes the objects of deleted definitions, and the definitions once nothing is left of them.
    pub(crate) fn settle_definitions(&mut self, now: Timestamp) -> bool {
        let mut changed = false;
        for table in self.timers.removed_definitions.clone() {
            let key = Key::new(None, &table);
            let Some(resource) = self.catalogue.named(&table) else { continue };
            let keys: Vec<Key> = self
                .store
                .list(&table, None)
                .filter(|(_, object)| !objects::is_being_deleted(&object.value))
                .map(|(key, _)| key.clone())
                .collect();
            for key in keys {
                let options = DeleteOptions::background();
                changed |=
                    self.delete_object(&resource, &key, &options, &Writer::cluster(), now).is_ok();
            }
            let Some(definition) = self.get(TABLE, &key) else { continue };
            if self.store.count(&table) > 0
                || objects::finalizers(definition).all(|one| one != CLEANUP)
            {
                continue;
            }
            let mut value = definition.clone();
            let left: Vec<String> = objects::finalizers(definition)
                .filter(|one| *one != CLEANUP)
                .map(str::to_owned)
                .collect();
            changed = true;
            if left.is_empty() {
                self.erase(TABLE, &key, now, None);
            } else {
                objects::set(&mut value, &["metadata", "finalizers"], left);
                self.store_object(TABLE, value, now, None);
            }
        }
        changed
    }
}
