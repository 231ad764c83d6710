//! Objects as tables, and their metadata alone.

mod cells;
mod json_path;

use cells::{age, cells};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kubernetes::api::state::Resource;
use crate::kubernetes::store::objects;

/// Returns objects in this resource's version as a table.
pub(crate) fn of(resource: &Resource, values: &[Value], now: Timestamp, metadata: &Value) -> Value {
    let rows: Vec<Value> = values
        .iter()
        .map(|value| json!({"cells": row(resource, value, now), "object": metadata_of(value)}))
        .collect();
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
        "columnDefinitions": definitions(resource), "rows": rows,
    })
}

pub(crate) fn metadata_of(value: &Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": value["metadata"],
    })
}

fn definitions(resource: &Resource) -> Vec<Value> {
    let definition = |name: &str, kind: &str, description: &str, priority: i64| {
        json!({
            "name": name, "type": kind, "format": if name == "Name" { "name" } else { "" },
            "description": description, "priority": priority,
        })
    };
    let mut definitions = vec![definition("Name", "string", "", 0)];
    match resource.custom() {
        Some(custom) if !custom.columns.is_empty() => {
            definitions.extend(custom.columns.iter().map(|column| {
                definition(&column.name, &column.kind, &column.description, column.priority)
            }));
        }
        _ => {
            let heads = cells(resource, &Value::Null, Timestamp::UNIX_EPOCH);
            definitions.extend(
                heads.iter().map(|cell| definition(cell.column, "string", "", cell.priority)),
            );
        }
    }
    definitions
}

fn row(resource: &Resource, value: &Value, now: Timestamp) -> Vec<Value> {
    let mut row = vec![Value::from(objects::name(value))];
    match resource.custom() {
        Some(custom) if !custom.columns.is_empty() => {
            for column in &custom.columns {
                let found = json_path::find(value, &column.path);
                let then = || found.as_str()?.parse().ok();
                row.push(match column.kind.as_str() {
                    "date" => then().map_or("<unknown>".into(), |then| age(then, now).into()),
                    _ => found,
                });
            }
        }
        _ => row.extend(cells(resource, value, now).into_iter().map(|cell| cell.value)),
    }
    row
}
