//! Resources as raw JSON, by id; unknown members are kept.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use serde_json::{Map, Value, json};

/// All resources, by id in lower case. Copies share unchanged resources: the state is copied for
/// every read that may be stale, and for every schedule of a test.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResourceStore {
    resources: BTreeMap<Arc<str>, Arc<Value>>,
    /// Suffix of every tag that a write changes.
    version: u64,
}

impl ResourceStore {
    pub(crate) fn get(&self, id: &str) -> Option<&Value> {
        self.resources.get(id.to_lowercase().as_str()).map(|body| &**body)
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.get(id).is_some()
    }

    /// Returns the string at a JSON pointer into a resource, or an empty one.
    pub(crate) fn text(&self, id: &str, pointer: &str) -> &str {
        self.get(id).map_or("", |body| text(body, pointer))
    }

    /// Returns a resource to change; the caller updates its entity tag.
    pub(crate) fn get_mut(&mut self, id: &str) -> Option<&mut Value> {
        self.resources.get_mut(id.to_lowercase().as_str()).map(Arc::make_mut)
    }

    pub(crate) fn put(&mut self, body: Value) {
        let key = text(&body, "/id").to_lowercase();
        self.resources.insert(key.into(), Arc::new(body));
    }

    /// Removes a resource and everything below it.
    pub(crate) fn remove(&mut self, id: &str) {
        let key = id.to_lowercase();
        let under = format!("{key}/");
        self.resources.retain(|other, _| **other != *key && !other.starts_with(&under));
    }

    /// Lists one collection, ids of the form `collection/name`, in order.
    pub(crate) fn list<'a>(
        &'a self,
        collection: &str,
    ) -> impl Iterator<Item = &'a Value> + use<'a> {
        let prefix = format!("{}/", collection.to_lowercase());
        let length = prefix.len();
        self.resources
            .range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded))
            .take_while(move |(key, _)| key.starts_with(&prefix))
            .filter(move |(key, _)| !key[length..].contains('/'))
            .map(|(_, body)| &**body)
    }

    /// Returns the ids of one collection, in order.
    pub(crate) fn ids(&self, collection: &str) -> Vec<String> {
        self.list(collection).map(|body| text(body, "/id").to_owned()).collect()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Value> {
        self.resources.values().map(|body| &**body)
    }

    /// Returns a tag that no resource has had yet.
    pub(crate) fn next_tag(&mut self) -> String {
        // Above the tags of scenarios.
        self.version = self.version.max(0xffff) + 1;
        format!("{:08x}-0000-4000-8000-{:012x}", 0x7c1f_0b0e_u32, self.version)
    }
}

/// Returns the string at a JSON pointer, or an empty one.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a member that is a string, or an empty one.
pub(crate) fn string<'a>(members: &'a Map<String, Value>, name: &str) -> &'a str {
    members.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the elements of the list at a JSON pointer; none without a list.
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(crate) fn number(value: &Value, pointer: &str) -> i64 {
    value.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

pub(crate) fn set(body: &mut Value, name: &str, value: impl Into<Value>) {
    if !body["properties"].is_object() {
        body["properties"] = json!({});
    }
    body["properties"][name] = value.into();
}

pub(crate) fn last(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or_default()
}

/// Applies a JSON merge patch, as ARM's PATCH does: objects merge, null removes, everything else replaces.
pub(crate) fn merge(into: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        into.clone_from(patch);
        return;
    };
    if !into.is_object() {
        *into = json!({});
    }
    let Value::Object(members) = into else { return };
    for (name, value) in patch {
        if value.is_null() {
            members.remove(name);
        } else {
            merge(members.entry(name.clone()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_lists_its_members_and_not_their_children() {
        let mut store = ResourceStore::default();
        for id in ["/a/B/c", "/a/b/d", "/a/b/d/e/f", "/a/bb/x"] {
            store.put(json!({"id": id}));
        }
        let ids: Vec<&str> = store.list("/A/b").map(|body| text(body, "/id")).collect();
        assert_eq!(ids, ["/a/B/c", "/a/b/d"]);
        store.remove("/a/b/D");
        assert!(!store.has("/a/b/d/e/f"));
        assert!(store.has("/a/b/c"));
    }

    #[test]
    fn a_merge_keeps_what_it_does_not_name() {
        let mut body = json!({"a": {"b": 1, "c": 2}, "d": [1]});
        merge(&mut body, &json!({"a": {"b": null, "x": 3}, "d": [2]}));
        assert_eq!(body, json!({"a": {"c": 2, "x": 3}, "d": [2]}));
    }
}
