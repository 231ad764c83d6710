//! The merge of an applied configuration into a live object, and its conflicts.

use serde_json::{Value, json};

use super::field_set::{self, Shape};
use super::owners::{Owner, owners, set_owners};
use crate::kubernetes::api::state::{ApiResult, Resource, StatusError};
use crate::kubernetes::store::objects::{self, text};

/// Returns the live object with applied fields merged and no longer applied ones removed.
pub(super) fn merge(
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
    let changed = field_set::changed(&mine.fields, shape, live, &merged);
    let mut all = owners(live);
    let mut conflicts: Vec<(String, String)> = Vec::new();
    for owner in all.iter_mut().filter(|owner| !owner.is(&mine)) {
        let lost = &owner.fields & &changed;
        if force {
            owner.fields.retain(|path| !lost.contains(path));
        } else {
            let who = format!(
                "{:?} using {}",
                text(&owner.entry, &["manager"]),
                text(&owner.entry, &["apiVersion"])
            );
            let paths = lost.iter().map(|path| field_set::shown_path(path));
            conflicts.extend(paths.map(|path| (who.clone(), path)));
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
        let mut gone = &before.fields - &mine.fields;
        gone.retain(|path| all.iter().all(|owner| !owner.fields.contains(path)));
        for path in gone.iter().rev() {
            field_set::remove(shape, &mut merged, path);
        }
    }
    all.push(mine);
    let all_fields = field_set::fields_of(shape, &merged);
    for owner in &mut all {
        owner.fields.retain(|path| all_fields.contains(path));
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
