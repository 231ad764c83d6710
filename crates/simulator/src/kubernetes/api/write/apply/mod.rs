//! Server-side apply: who owns which field, and what follows from it.

mod field_set;

use http::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};

use field_set::{FieldSet, Shape};

use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{Call, ResourceTarget, converted, to_stored};
use crate::kubernetes::api::state::{ApiServer, FieldError, Resource, StatusError, Writer};
use crate::kubernetes::api::write::update::Part;
use crate::kubernetes::store::objects::{self, Key, text};

/// One manager's fields.
struct Owner {
    entry: Value,
    fields: FieldSet,
}

impl Owner {
    fn new(writer: &Writer, operation: &str, api_version: &str) -> Self {
        let mut entry = json!({
            "manager": writer.manager, "operation": operation, "apiVersion": api_version,
            "fieldsType": "FieldsV1",
        });
        if !writer.subresource.is_empty() {
            entry["subresource"] = writer.subresource.clone().into();
        }
        Self { entry, fields: FieldSet::default() }
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
    if entries.is_empty() {
        objects::remove(value, &["metadata", "managedFields"]);
    } else {
        objects::set(value, &["metadata", "managedFields"], entries);
    }
}

/// Notes which fields a write changed: they are the writer's now.
pub(crate) fn record_update(
    resource: &Resource,
    old: Option<&Value>,
    value: &mut Value,
    writer: &Writer,
    now: Timestamp,
) {
    let shape = Shape::of(resource);
    // Whoever sends an empty list of owners has them forgotten.
    let forgotten = objects::at(value, &["metadata", "managedFields"])
        .is_some_and(|list| list.as_array().is_some_and(Vec::is_empty));
    let mut all = if forgotten { Vec::new() } else { old.map(owners).unwrap_or_default() };
    let new_fields = FieldSet::of(&shape, value);
    let changed = match old {
        Some(old) => new_fields.changed(&shape, old, value),
        None => new_fields.clone(),
    };
    if !changed.is_empty() && !forgotten {
        let mut mine = Owner::new(writer, "Update", &resource.api_version());
        mine.entry["time"] = objects::time(now).into();
        mine.fields = changed.clone();
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
    pub(crate) fn serve_apply(
        &mut self,
        call: &Call<'_>,
        target: &ResourceTarget,
        name: &str,
        now: Timestamp,
    ) -> Result<Response, StatusError> {
        let resource = &target.resource;
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
        let mut applied = crate::kubernetes::api::write::create::received(resource, body)?;
        if objects::at(&applied, &["metadata", "managedFields"]).is_some_and(|list| !list.is_null())
        {
            return Err(StatusError::bad_request("metadata.managedFields must be nil"));
        }
        objects::set(&mut applied, &["metadata", "name"], name);
        if let Some(namespace) = &target.namespace {
            objects::set(&mut applied, &["metadata", "namespace"], namespace.clone());
        }
        only_part(resource, &mut applied, target.part());
        let mut writer = call.writer("patch");
        writer.applies = true;
        let key = Key::new(target.namespace.as_deref(), name);
        let mut mine = Owner::new(&writer, "Apply", &resource.api_version());
        mine.entry["time"] = objects::time(now).into();
        let shape = Shape::of(resource);
        let live = self.store.get(&resource.table, &key).map(|object| object.value.clone());
        let Some(live) = live else {
            if target.part() == Part::Status {
                return Err(StatusError::not_found(resource, name));
            }
            mine.fields = FieldSet::of(&shape, &applied);
            set_owners(&mut applied, vec![mine]);
            let body = converted(resource, &applied);
            let namespace = target.namespace.as_deref();
            let stored = self.create_object(resource, namespace, body, &writer, now)?;
            return Ok(crate::kubernetes::api::write::create::written(
                call,
                resource,
                &stored,
                StatusCode::CREATED,
                now,
            ));
        };
        mine.fields = FieldSet::of(&shape, &applied);
        let merged = merge(resource, &shape, &live, &applied, mine, call.query.flag("force"))?;
        let part = target.part();
        let stored =
            self.replace(resource, &key, to_stored(resource, merged), part, &writer, now)?;
        Ok(crate::kubernetes::api::write::create::written(
            call,
            resource,
            &stored,
            StatusCode::OK,
            now,
        ))
    }
}

/// Of what is applied, only the part counts that the path names.
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

/// The live object with what is applied put in and what is no longer applied taken out.
fn merge(
    resource: &Resource,
    shape: &Shape<'_>,
    live: &Value,
    applied: &Value,
    mut mine: Owner,
    force: bool,
) -> Result<Value, StatusError> {
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
    for owner in all.iter_mut().filter(|owner| !same_manager(owner, &mine)) {
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
    let before = all.iter().find(|owner| owner.is(&mine)).map(|owner| owner.fields.clone());
    all.retain(|owner| !owner.is(&mine));
    if let Some(mut gone) = before {
        gone.take_away(&mine.fields);
        for owner in &all {
            gone.take_away(&owner.fields);
        }
        gone.remove_from(shape, &mut merged);
    }
    let same = objects::at(live, &["metadata", "managedFields"])
        .and_then(Value::as_array)
        .and_then(|list| {
            list.iter().find(|entry| {
                let owner = Owner { entry: (*entry).clone(), fields: FieldSet::default() };
                owner.is(&mine) && FieldSet::from_json(&entry["fieldsV1"]) == mine.fields
            })
        });
    if let Some(time) = same.and_then(|entry| entry.get("time")) {
        mine.entry["time"] = time.clone();
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

fn same_manager(owner: &Owner, mine: &Owner) -> bool {
    owner.is(mine)
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
