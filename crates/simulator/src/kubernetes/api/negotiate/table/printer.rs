use jiff::Timestamp;
use serde_json::{Value, json};

use super::age::age;
use super::{cells, json_path};
use crate::kubernetes::api::state::{Resource, TableRows};
use crate::kubernetes::store::objects;

/// A column; a priority above 0 is shown only by `-o wide`.
struct Column {
    name: String,
    kind: String,
    description: String,
    priority: i64,
}

/// Returns objects in this resource's version as a table; the first table of a watch describes its columns.
pub(crate) fn of(
    resource: &Resource,
    values: &[Value],
    format: TableRows,
    now: Timestamp,
    described: bool,
    metadata: &Value,
) -> Value {
    let columns = columns(resource);
    let definitions: Vec<Value> = columns
        .iter()
        .map(|column| {
            json!({
                "name": column.name, "type": column.kind,
                "format": if column.name == "Name" { "name" } else { "" },
                "description": column.description, "priority": column.priority,
            })
        })
        .collect();
    let rows: Vec<Value> = values
        .iter()
        .map(|value| {
            let mut row = json!({"cells": cells(resource, value, now)});
            match format {
                TableRows::Rows => {}
                TableRows::WithMetadata => row["object"] = metadata_of(value),
                TableRows::WithObjects => row["object"] = value.clone(),
            }
            row
        })
        .collect();
    let definitions = if described { json!(definitions) } else { Value::Null };
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
        "columnDefinitions": definitions, "rows": rows,
    })
}

pub(crate) fn metadata_of(value: &Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": value["metadata"],
    })
}

fn columns(resource: &Resource) -> Vec<Column> {
    let column = |name: &str, kind: &str, priority| Column {
        name: name.to_owned(),
        kind: kind.to_owned(),
        description: String::new(),
        priority,
    };
    let mut columns = vec![column("Name", "string", 0)];
    match resource.custom() {
        Some(custom) if !custom.columns.is_empty() => {
            columns.extend(custom.columns.iter().map(|one| Column {
                name: one.name.clone(),
                kind: one.kind.clone(),
                description: one.description.clone(),
                priority: one.priority,
            }));
        }
        _ => columns.extend(
            cells::columns(resource)
                .iter()
                .map(|(name, kind, priority)| column(name, kind, *priority)),
        ),
    }
    columns
}

fn cells(resource: &Resource, value: &Value, now: Timestamp) -> Vec<Value> {
    let mut cells = vec![Value::from(objects::name(value))];
    match resource.custom() {
        Some(custom) if !custom.columns.is_empty() => {
            for column in &custom.columns {
                let found = json_path::find(value, &column.path);
                cells.push(match column.kind.as_str() {
                    "date" => found
                        .as_str()
                        .and_then(|text| text.parse().ok())
                        .map_or_else(|| "<unknown>".into(), |then| age(then, now).into()),
                    _ => found,
                });
            }
        }
        _ => cells.extend(cells::cells(resource, value, now)),
    }
    cells
}
