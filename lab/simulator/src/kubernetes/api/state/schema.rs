//! A parsed structural schema, as far as clients meet it: numbers, counts and rules in CEL are not checked.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

use crate::kubernetes::store::objects::{flag, list, text, texts};

#[derive(Debug, Default)]
pub(crate) struct Schema {
    /// Empty if any type is allowed.
    pub(crate) kind: String,
    pub(crate) properties: BTreeMap<String, Schema>,
    pub(crate) additional: Option<Box<Schema>>,
    pub(crate) items: Option<Box<Schema>>,
    pub(crate) required: Vec<String>,
    pub(crate) default: Option<Value>,
    pub(crate) allowed: Vec<Value>,
    pub(crate) pattern: Option<(String, Regex)>,
    pub(crate) format: String,
    pub(crate) max_length: Option<u64>,
    pub(crate) int_or_string: bool,
    pub(crate) keeps_unknown: bool,
    pub(crate) list_type: ListType,
    pub(crate) any_of: Vec<Schema>,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum ListType {
    #[default]
    Atomic,
    Set,
    /// Elements are identified by these members.
    Map(Vec<String>),
}

impl ListType {
    /// Returns what identifies an element: its key members, or all of it.
    pub(crate) fn key_of(&self, item: &Value) -> Value {
        let Self::Map(keys) = self else { return item.clone() };
        keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone()))).collect()
    }
}

impl Schema {
    /// Returns the schema of a member.
    pub(crate) fn member(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(self.additional.as_deref())
    }

    /// Parses an `openAPIV3Schema`. An invalid pattern matches everything.
    pub(crate) fn read(value: &Value) -> Self {
        let boxed = |name: &str| {
            value.get(name).filter(|one| one.is_object()).map(|one| Box::new(Self::read(one)))
        };
        let owned = |name: &str| texts(value, &[name]).map(str::to_owned).collect();
        let properties = value.get("properties").and_then(Value::as_object).into_iter().flatten();
        let properties: BTreeMap<String, Self> =
            properties.map(|(name, one)| (name.clone(), Self::read(one))).collect();
        let additional = match value.get("additionalProperties") {
            Some(Value::Bool(true)) => {
                Some(Box::new(Self { keeps_unknown: true, ..Self::default() }))
            }
            _ => boxed("additionalProperties"),
        };
        let items = boxed("items");
        Self {
            kind: text(value, &["type"]).to_owned(),
            properties,
            additional,
            items,
            required: owned("required"),
            default: value.get("default").cloned(),
            allowed: list(value, &["enum"]).to_vec(),
            pattern: value.get("pattern").and_then(Value::as_str).and_then(|pattern| {
                Regex::new(pattern).ok().map(|regex| (pattern.to_owned(), regex))
            }),
            format: text(value, &["format"]).to_owned(),
            max_length: value.get("maxLength").and_then(Value::as_u64),
            int_or_string: flag(value, &["x-kubernetes-int-or-string"]),
            keeps_unknown: flag(value, &["x-kubernetes-preserve-unknown-fields"]),
            list_type: match text(value, &["x-kubernetes-list-type"]) {
                "set" => ListType::Set,
                "map" => ListType::Map(owned("x-kubernetes-list-map-keys")),
                _ => ListType::Atomic,
            },
            any_of: list(value, &["anyOf"]).iter().map(Self::read).collect(),
        }
    }
}
