//! Sets of fields of an object, in the form of `managedFields`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::kubernetes::api::state::{ListType, Resource, Schema};
use crate::kubernetes::api::write::patch::list_type;
use crate::kubernetes::store::objects::members;

/// Merge rules of the lists at a path.
#[derive(Clone, Copy)]
pub(super) enum Shape<'a> {
    Custom(Option<&'a Schema>),
    /// Plural name of a built-in resource, and name of the member.
    BuiltIn(&'a str, &'a str),
}

impl<'a> Shape<'a> {
    pub(super) fn of(resource: &'a Resource) -> Self {
        match resource.custom() {
            Some(custom) => Self::Custom(Some(&custom.schema)),
            None => Self::BuiltIn(&resource.plural, ""),
        }
    }

    /// Returns the shape of metadata, the same for all objects.
    fn metadata(name: &'a str) -> Self {
        Self::BuiltIn("", name)
    }

    fn member(&self, name: &'a str) -> Self {
        match self {
            Self::Custom(schema) => Self::Custom(schema.and_then(|schema| schema.member(name))),
            Self::BuiltIn(plural, _) => Self::BuiltIn(plural, name),
        }
    }

    fn item(&self) -> Self {
        match self {
            Self::Custom(schema) => Self::Custom(schema.and_then(|schema| schema.items.as_deref())),
            Self::BuiltIn(..) => *self,
        }
    }

    fn list_type(&self) -> ListType {
        match self {
            Self::Custom(schema) => {
                schema.map(|schema| schema.list_type.clone()).unwrap_or_default()
            }
            Self::BuiltIn(plural, name) => list_type(plural, name),
        }
    }

    fn is_atomic_map(&self) -> bool {
        matches!(self, Self::Custom(Some(schema)) if schema.atomic_map)
    }
}

/// Fields as paths of parts: `f:spec`, `k:{"type":"Ready"}`, `v:"finalizer"`.
pub(super) type FieldSet = BTreeSet<Vec<String>>;

const NOT_OWNED: [&str; 11] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
    "generateName",
];

/// Returns the fields of an object.
pub(super) fn fields_of(shape: &Shape<'_>, object: &Value) -> FieldSet {
    let mut found = FieldSet::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        match name.as_str() {
            "apiVersion" | "kind" => {}
            "metadata" => {
                let own = value.as_object().into_iter().flatten();
                for (name, value) in own.filter(|(name, _)| !NOT_OWNED.contains(&name.as_str())) {
                    let mut path = vec!["f:metadata".to_owned(), format!("f:{name}")];
                    collect(&Shape::metadata(name), value, &mut path, &mut found);
                }
            }
            name => {
                collect(&shape.member(name), value, &mut vec![format!("f:{name}")], &mut found);
            }
        }
    }
    found
}

/// Returns those of the fields whose values differ between two objects.
pub(super) fn changed(fields: &FieldSet, shape: &Shape<'_>, old: &Value, new: &Value) -> FieldSet {
    let differs = |path: &&Vec<String>| find(shape, old, path) != find(shape, new, path);
    fields.iter().filter(differs).cloned().collect()
}

pub(super) fn to_json(fields: &FieldSet) -> Value {
    let mut root = Value::Object(Map::new());
    for path in fields {
        let mut place = &mut root;
        for part in path {
            place = members(place).entry(part).or_insert_with(|| json!({}));
        }
    }
    root
}

pub(super) fn from_json(value: &Value) -> FieldSet {
    fn walk(value: &Value, path: &mut Vec<String>, found: &mut FieldSet) {
        let members = value.as_object().filter(|members| !members.is_empty());
        let Some(members) = members else {
            found.insert(path.clone());
            return;
        };
        for (part, value) in members {
            path.push(part.clone());
            walk(value, path, found);
            path.pop();
        }
    }
    let mut found = FieldSet::new();
    if value.as_object().is_some_and(|members| !members.is_empty()) {
        walk(value, &mut Vec::new(), &mut found);
    }
    found
}

fn collect(shape: &Shape<'_>, value: &Value, path: &mut Vec<String>, found: &mut FieldSet) {
    match value {
        Value::Object(members) if !members.is_empty() && !shape.is_atomic_map() => {
            for (name, value) in members {
                path.push(format!("f:{name}"));
                collect(&shape.member(name), value, path, found);
                path.pop();
            }
        }
        Value::Array(items) if shape.list_type() != ListType::Atomic => {
            for item in items {
                path.push(part_of(&shape.list_type(), item));
                path.push(".".to_owned());
                found.insert(path.clone());
                path.pop();
                if item.is_object() {
                    collect(&shape.item(), item, path, found);
                }
                path.pop();
            }
        }
        _ => {
            found.insert(path.clone());
        }
    }
}

fn part_of(list: &ListType, item: &Value) -> String {
    let mark = if matches!(list, ListType::Map(_)) { 'k' } else { 'v' };
    format!("{mark}:{}", list.key_of(item))
}

fn position(list: &ListType, items: &[Value], part: &str) -> Option<usize> {
    items.iter().position(|item| part_of(list, item) == part)
}

fn find<'v>(shape: &Shape<'_>, value: &'v Value, path: &[String]) -> Option<&'v Value> {
    let Some((part, rest)) = path.split_first() else { return Some(value) };
    if part == "." {
        return Some(&Value::Null);
    }
    if let Some(name) = part.strip_prefix("f:") {
        return find(&step(shape, name), value.get(name)?, rest);
    }
    let items = value.as_array()?;
    let at = position(&shape.list_type(), items, part)?;
    find(&shape.item(), &items[at], rest)
}

/// Lists below `metadata` have their own rules.
fn step<'a>(shape: &Shape<'a>, name: &'a str) -> Shape<'a> {
    match (shape, name) {
        (_, "finalizers" | "ownerReferences") => Shape::metadata(name),
        _ => shape.member(name),
    }
}

/// Removes a field from an object, and parents that become empty.
pub(super) fn remove(shape: &Shape<'_>, value: &mut Value, path: &[String]) {
    let Some((part, rest)) = path.split_first() else { return };
    if let Some(name) = part.strip_prefix("f:") {
        let Some(members) = value.as_object_mut() else { return };
        if rest.is_empty() {
            members.remove(name);
            return;
        }
        if let Some(child) = members.get_mut(name) {
            remove(&step(shape, name), child, rest);
            if child.as_object().is_some_and(Map::is_empty) {
                members.remove(name);
            }
        }
        return;
    }
    let list = shape.list_type();
    let Some(items) = value.as_array_mut() else { return };
    let Some(at) = position(&list, items, part) else { return };
    if rest.first().is_none_or(|part| part == ".") {
        items.remove(at);
    } else {
        remove(&shape.item(), &mut items[at], rest);
    }
}

/// Merges an applied configuration into an object: lists with keys merge, others are replaced.
pub(super) fn merge(shape: &Shape<'_>, value: &mut Value, applied: &Value) {
    match applied {
        Value::Object(new) if !shape.is_atomic_map() => {
            let members = members(value);
            for (name, new) in new {
                if new.is_null() {
                    continue;
                }
                merge(&step(shape, name), members.entry(name).or_insert(Value::Null), new);
            }
        }
        Value::Array(new) if shape.list_type() != ListType::Atomic => {
            let list = shape.list_type();
            let mut items = value.as_array().cloned().unwrap_or_default();
            for item in new {
                match position(&list, &items, &part_of(&list, item)) {
                    Some(at) if item.is_object() => merge(&shape.item(), &mut items[at], item),
                    Some(_) => {}
                    None => items.push(item.clone()),
                }
            }
            *value = Value::Array(items);
        }
        other => *value = other.clone(),
    }
}

/// Returns a human-readable path: `.spec.containers[name="x"].image`.
pub(super) fn shown_path(path: &[String]) -> String {
    path.iter().map(|part| shown(part)).collect()
}

fn shown(part: &str) -> String {
    if let Some(name) = part.strip_prefix("f:") {
        return format!(".{name}");
    }
    if let Some(key) = part.strip_prefix("k:") {
        let key: Value = serde_json::from_str(key).unwrap_or_default();
        let key: Vec<String> = key
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        return format!("[{}]", key.join(","));
    }
    part.strip_prefix("v:").map_or_else(String::new, |value| format!("[={value}]"))
}
