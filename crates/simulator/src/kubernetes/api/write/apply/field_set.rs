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
    BuiltIn(&'a Resource, &'a str),
}

impl<'a> Shape<'a> {
    pub(super) fn of(resource: &'a Resource) -> Self {
        match resource.custom() {
            Some(custom) => Self::Custom(Some(&custom.schema)),
            None => Self::BuiltIn(resource, ""),
        }
    }

    fn member(&self, name: &'a str) -> Self {
        match self {
            Self::Custom(schema) => {
                Self::Custom(schema.and_then(|schema| {
                    schema.properties.get(name).or(schema.additional.as_deref())
                }))
            }
            Self::BuiltIn(resource, _) => Self::BuiltIn(resource, name),
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
            Self::BuiltIn(resource, name) => list_type(resource, name),
        }
    }

    fn is_atomic_map(&self) -> bool {
        matches!(self, Self::Custom(Some(schema)) if schema.atomic_map)
    }
}

/// Fields as paths of parts: `f:spec`, `k:{"type":"Ready"}`, `v:"finalizer"`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FieldSet(BTreeSet<Vec<String>>);

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

impl FieldSet {
    pub(super) fn of(shape: &Shape<'_>, value: &Value) -> Self {
        let mut found = BTreeSet::new();
        for (name, value) in value.as_object().into_iter().flatten() {
            match name.as_str() {
                "apiVersion" | "kind" => {}
                "metadata" => {
                    let own = value.as_object().into_iter().flatten();
                    for (name, value) in own.filter(|(name, _)| !NOT_OWNED.contains(&name.as_str()))
                    {
                        let mut path = vec!["f:metadata".to_owned(), format!("f:{name}")];
                        collect(&Shape::metadata(name), value, &mut path, &mut found);
                    }
                }
                name => {
                    collect(&shape.member(name), value, &mut vec![format!("f:{name}")], &mut found);
                }
            }
        }
        Self(found)
    }

    /// Returns the fields whose values differ between two objects.
    pub(super) fn changed(&self, shape: &Shape<'_>, old: &Value, new: &Value) -> Self {
        let differs = |path: &&Vec<String>| find(shape, old, path) != find(shape, new, path);
        Self(self.0.iter().filter(differs).cloned().collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }

    pub(super) fn take_away(&mut self, other: &Self) {
        self.0.retain(|path| !other.0.contains(path));
    }

    pub(super) fn keep_only(&mut self, other: &Self) {
        self.0.retain(|path| other.0.contains(path));
    }

    pub(super) fn common(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).cloned().collect())
    }

    /// Removes these fields from an object, and parents that become empty.
    pub(super) fn remove_from(&self, shape: &Shape<'_>, value: &mut Value) {
        for path in self.0.iter().rev() {
            remove(shape, value, path);
        }
    }

    /// Returns human-readable paths: `.spec.containers[name="x"].image`.
    pub(super) fn paths(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|path| path.iter().map(|part| shown(part)).collect())
    }

    pub(super) fn to_json(&self) -> Value {
        let mut root = Value::Object(Map::new());
        for path in &self.0 {
            let mut place = &mut root;
            for part in path {
                place = members(place).entry(part).or_insert_with(|| json!({}));
            }
        }
        root
    }

    pub(super) fn from_json(value: &Value) -> Self {
        fn walk(value: &Value, path: &mut Vec<String>, found: &mut BTreeSet<Vec<String>>) {
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
        let mut found = BTreeSet::new();
        if value.as_object().is_some_and(|members| !members.is_empty()) {
            walk(value, &mut Vec::new(), &mut found);
        }
        Self(found)
    }
}

impl<'a> Shape<'a> {
    /// Returns the shape of metadata, the same for all objects.
    fn metadata(name: &'a str) -> Self {
        static BY_NAME: std::sync::OnceLock<Resource> = std::sync::OnceLock::new();
        let any = BY_NAME.get_or_init(Resource::nameless);
        Self::BuiltIn(any, name)
    }
}

fn collect(
    shape: &Shape<'_>,
    value: &Value,
    path: &mut Vec<String>,
    found: &mut BTreeSet<Vec<String>>,
) {
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
    match list {
        ListType::Map(keys) => {
            let key: Map<String, Value> =
                keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone()))).collect();
            format!("k:{}", Value::Object(key))
        }
        _ => format!("v:{item}"),
    }
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

fn remove(shape: &Shape<'_>, value: &mut Value, path: &[String]) {
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
