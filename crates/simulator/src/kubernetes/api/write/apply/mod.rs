//! Server-side apply: field ownership and conflicts.

mod field_set;

use http::StatusCode;
use serde_json::{Value, json};

use super::pipeline::decode;
use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{Call, converted, object_answer, to_stored};
use crate::kubernetes::api::state::{
    ApiResult, ApiServer, FieldError, Part, Resource, StatusError, Writer,
};
use crate::kubernetes::store::objects::{self, text};
use field_set::{FieldSet, Shape};

struct Owner {
    entry: Value,
    fields: FieldSet,
}

impl Owner {
    fn new(writer: &Writer, operation: &str, api_version: &str, fields: FieldSet) -> Self {
        let mut entry = json!({
            "manager": writer.manager, "operation": operation, "apiVersion": api_version,
            "fieldsType": "FieldsV1", "time": objects::time(writer.now),
        });
        if !writer.subresource.is_empty() {
            entry["subresource"] = writer.subresource.clone().into();
        }
        Self { entry, fields }
    }

    fn is(&self, other: &Self) -> bool {
        ["manager", "operation", "apiVersion", "subresource"]
            .iter()
            .all(|name| self.entry.get(name) == other.entry.get(name))
    }
}

fn owners(value: &Value) -> Vec<Owner> {
    objects::list(value, &["metadata", "managedFields"])
        .iter()
        .map(|entry| Owner {
            entry: entry.clone(),
            fields: FieldSet::from_json(&entry["fieldsV1"]),
        })
        .collect()
}

fn set_owners(value: &mut Value, owners: Vec<Owner>) {
    let entries: Vec<Value> = owners
        .into_iter()
        .filter(|owner| !owner.fields.is_empty())
        .map(|owner| {
            let mut entry = owner.entry;
            entry["fieldsV1"] = owner.fields.to_json();
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
    writer: &Writer,
) {
    let shape = Shape::of(resource);
    // An empty list of managers resets them.
    let forgotten = objects::at(value, &["metadata", "managedFields"])
        .is_some_and(|list| list.as_array().is_some_and(Vec::is_empty));
    let mut all = if forgotten { Vec::new() } else { old.map(owners).unwrap_or_default() };
    let new_fields = FieldSet::of(&shape, value);
    let changed = match old {
        Some(old) => new_fields.changed(&shape, old, value),
        None => new_fields.clone(),
    };
    if !changed.is_empty() && !forgotten {
        let mut mine = Owner::new(writer, "Update", &resource.api_version(), changed.clone());
        for owner in &mut all {
            if owner.is(&mine) {
                mine.fields.add(&owner.fields);
            } else {
                owner.fields.take_away(&changed);
            }
        }
        all.retain(|owner| !owner.is(&mine));
        all.push(mine);
    }
    for owner in &mut all {
        owner.fields.keep_only(&new_fields);
    }
    set_owners(value, all);
}

impl ApiServer {
    pub(crate) fn serve_apply(&mut self, call: &Call<'_>) -> ApiResult<Response> {
        let (resource, part) = (call.resource(), call.part());
        if call.query.get("fieldManager").is_empty() {
            let error = FieldError::required("fieldManager", "is required for apply patch");
            return Err(StatusError::bad_option("PatchOptions", &error));
        }
        let body: Value = match serde_json::from_slice(call.request.body()) {
            Ok(value) => value,
            Err(error) => std::str::from_utf8(call.request.body())
                .ok()
                .and_then(|text| serde_saphyr::from_str(text).ok())
                .ok_or_else(|| StatusError::bad_request(format!("error decoding YAML: {error}")))?,
        };
        let mut applied = decode(resource, body)?;
        if objects::at(&applied, &["metadata", "managedFields"]).is_some_and(|list| !list.is_null())
        {
            return Err(StatusError::bad_request("metadata.managedFields must be nil"));
        }
        objects::set(&mut applied, &["metadata", "name"], call.name());
        if let Some(namespace) = call.namespace() {
            objects::set(&mut applied, &["metadata", "namespace"], namespace);
        }
        only_part(resource, &mut applied, part);
        let mut writer = call.writer("patch");
        writer.applies = true;
        let shape = Shape::of(resource);
        let fields = FieldSet::of(&shape, &applied);
        let mine = Owner::new(&writer, "Apply", &resource.api_version(), fields);
        let live = match self.find(call) {
            Err(_) if part == Part::Main => {
                set_owners(&mut applied, vec![mine]);
                let body = converted(resource, &applied);
                let stored = self.create_object(resource, call.namespace(), body, &writer)?;
                return Ok(object_answer(call, StatusCode::CREATED, &stored));
            }
            live => &live?.value,
        };
        let merged = merge(resource, &shape, live, &applied, mine, call.query.flag("force"))?;
        let merged = to_stored(resource, merged);
        let stored = self.replace(resource, &call.key(), merged, part, &writer)?;
        Ok(object_answer(call, StatusCode::OK, &stored))
    }
}

/// Reduces an applied configuration to the part that the path names.
fn only_part(resource: &Resource, applied: &mut Value, part: Part) {
    if !resource.status {
        return;
    }
    match part {
        Part::Main => {
            objects::members(applied).remove("status");
        }
        Part::Status => {
            let kept = ["apiVersion", "kind", "metadata", "status"];
            objects::members(applied).retain(|name, _| kept.contains(&name.as_str()));
        }
    }
}

/// Returns the live object with applied fields merged and no longer applied ones removed.
fn merge(
    resource: &Resource,
    shape: &Shape<'_>,
    live: &Value,
    applied: &Value,
    mut mine: Owner,
    force: bool,
) -> ApiResult<Value> {
    let mut merged = live.clone();
    field_set::merge(shape, &mut merged, applied);
    // Identity is not applied.
    for name in ["resourceVersion", "uid"] {
        let wanted = objects::at(applied, &["metadata", name]).cloned();
        if let Some(wanted) =
            wanted.filter(|wanted| wanted.as_str().is_some_and(|text| !text.is_empty()))
        {
            objects::set(&mut merged, &["metadata", name], wanted);
        }
    }
    let changed = mine.fields.changed(shape, live, &merged);
    let mut all = owners(live);
    let mut conflicts: Vec<(String, String)> = Vec::new();
    for owner in all.iter_mut().filter(|owner| !owner.is(&mine)) {
        let lost = owner.fields.common(&changed);
        if force {
            owner.fields.take_away(&lost);
        } else {
            let who = format!(
                "{:?} using {}",
                text(&owner.entry, &["manager"]),
                text(&owner.entry, &["apiVersion"])
            );
            conflicts.extend(lost.paths().map(|path| (who.clone(), path)));
        }
    }
    if !conflicts.is_empty() {
        return Err(conflict(&conflicts));
    }
    let before = all.iter().position(|owner| owner.is(&mine)).map(|at| all.remove(at));
    if let Some(before) = before {
        if before.fields == mine.fields
            && let Some(time) = before.entry.get("time")
        {
            mine.entry["time"] = time.clone();
        }
        let mut gone = before.fields;
        gone.take_away(&mine.fields);
        for owner in &all {
            gone.take_away(&owner.fields);
        }
        gone.remove_from(shape, &mut merged);
    }
    all.push(mine);
    let all_fields = FieldSet::of(shape, &merged);
    for owner in &mut all {
        owner.fields.keep_only(&all_fields);
    }
    set_owners(&mut merged, all);
    merged["apiVersion"] = resource.api_version().into();
    Ok(merged)
}

fn conflict(conflicts: &[(String, String)]) -> StatusError {
    let count = conflicts.len();
    let mut message =
        format!("Apply failed with {count} conflict{}: ", if count == 1 { "" } else { "s" });
    let mut owners: Vec<&str> = conflicts.iter().map(|(who, _)| who.as_str()).collect();
    owners.dedup();
    for (n, owner) in owners.iter().enumerate() {
        if n > 0 {
            message.push('\n');
        }
        let fields: Vec<&str> = conflicts
            .iter()
            .filter(|(who, _)| who == owner)
            .map(|(_, path)| path.as_str())
            .collect();
        match fields.as_slice() {
            [one] => message.extend(["conflict with ", owner, ": ", one]),
            many => message.extend(["conflicts with ", owner, ":\n- ", &many.join("\n- ")]),
        }
    }
    let causes: Vec<Value> = conflicts
        .iter()
        .map(|(who, path)| {
            json!({"reason": "FieldManagerConflict", "message": format!("conflict with {who}"), "field": path})
        })
        .collect();
    StatusError::new(409, "Conflict", message).with_details(json!({"causes": causes}))
}
