//! Owners of fields, as an object lists them.

use serde_json::{Value, json};

use super::field_set::{self, FieldSet, Shape};
use crate::kubernetes::api::state::{Resource, WriteContext};
use crate::kubernetes::store::objects;

pub(super) struct Owner {
    pub(super) entry: Value,
    pub(super) fields: FieldSet,
}

impl Owner {
    pub(super) fn new(
        writer: &WriteContext,
        operation: &str,
        api_version: &str,
        fields: FieldSet,
    ) -> Self {
        let mut entry = json!({
            "manager": writer.manager, "operation": operation, "apiVersion": api_version,
            "fieldsType": "FieldsV1", "time": objects::time(writer.now),
        });
        if !writer.subresource.is_empty() {
            entry["subresource"] = writer.subresource.into();
        }
        Self { entry, fields }
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        ["manager", "operation", "apiVersion", "subresource"]
            .iter()
            .all(|name| self.entry.get(name) == other.entry.get(name))
    }
}

pub(super) fn owners(value: &Value) -> Vec<Owner> {
    objects::list(value, &["metadata", "managedFields"])
        .iter()
        .map(|entry| Owner {
            entry: entry.clone(),
            fields: field_set::from_json(&entry["fieldsV1"]),
        })
        .collect()
}

pub(super) fn set_owners(value: &mut Value, owners: Vec<Owner>) {
    let entries: Vec<Value> = owners
        .into_iter()
        .filter(|owner| !owner.fields.is_empty())
        .map(|owner| {
            let mut entry = owner.entry;
            entry["fieldsV1"] = field_set::to_json(&owner.fields);
            entry
        })
        .collect();
    objects::set_list(value, &["metadata", "managedFields"], entries);
}

/// Records the writer as manager of the fields that a write changed.
pub(crate) fn record_update(
    resource: &Resource,
    old: Option<&Value>,
    value: &mut Value,
    writer: &WriteContext,
) {
    let shape = Shape::of(resource);
    // An empty list of managers resets them.
    let forgotten = objects::at(value, &["metadata", "managedFields"])
        .is_some_and(|list| list.as_array().is_some_and(Vec::is_empty));
    let mut all = if forgotten { Vec::new() } else { old.map(owners).unwrap_or_default() };
    let new_fields = field_set::fields_of(&shape, value);
    let changed = match old {
        Some(old) => field_set::changed(&new_fields, &shape, old, value),
        None => new_fields.clone(),
    };
    if !changed.is_empty() && !forgotten {
        let mut mine = Owner::new(writer, "Update", &resource.api_version(), changed.clone());
        for owner in &mut all {
            if owner.is(&mine) {
                mine.fields.append(&mut owner.fields);
            } else {
                owner.fields.retain(|path| !changed.contains(path));
            }
        }
        all.retain(|owner| !owner.is(&mine));
        all.push(mine);
    }
    for owner in &mut all {
        owner.fields.retain(|path| new_fields.contains(path));
    }
    set_owners(value, all);
}
