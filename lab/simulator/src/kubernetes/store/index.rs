//! Indexes of objects by owner, node and namespace, updated with every change.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::objects::{self, Key, text};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectKey {
    pub(crate) table: String,
    pub(crate) key: Key,
}

impl ObjectKey {
    pub(crate) fn new(table: &str, key: &Key) -> Self {
        Self { table: table.to_owned(), key: key.clone() }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    living: BTreeMap<String, ObjectKey>,
    dependents: BTreeMap<String, BTreeSet<ObjectKey>>,
    pods: BTreeMap<String, BTreeSet<Key>>,
    ending_namespaces: BTreeSet<Key>,
}

impl Index {
    pub(super) fn enter(&mut self, table: &str, key: &Key, value: &Value) {
        let place = ObjectKey::new(table, key);
        for owner in owners(value) {
            self.dependents.entry(owner.to_owned()).or_default().insert(place.clone());
        }
        match table {
            "pods" => {
                let node = text(value, &["spec", "nodeName"]).to_owned();
                self.pods.entry(node).or_default().insert(key.clone());
            }
            "namespaces" if objects::is_being_deleted(value) => {
                self.ending_namespaces.insert(key.clone());
            }
            _ => {}
        }
        self.living.insert(objects::uid(value).to_owned(), place);
    }

    /// Removes an object that was added with this value.
    pub(super) fn leave(&mut self, table: &str, key: &Key, value: &Value) {
        self.living.remove(objects::uid(value));
        let place = ObjectKey::new(table, key);
        for owner in owners(value) {
            take(&mut self.dependents, owner, &place);
        }
        match table {
            "pods" => take(&mut self.pods, text(value, &["spec", "nodeName"]), key),
            "namespaces" => {
                self.ending_namespaces.remove(key);
            }
            _ => {}
        }
    }

    pub(crate) fn place_of(&self, uid: &str) -> Option<&ObjectKey> {
        self.living.get(uid)
    }

    pub(crate) fn dependents(&self, uid: &str) -> impl Iterator<Item = &ObjectKey> {
        self.dependents.get(uid).into_iter().flatten()
    }

    /// Returns the pods on a node, in order; unscheduled ones have the empty name.
    pub(crate) fn pods_on(&self, node: &str) -> impl Iterator<Item = &Key> {
        self.pods.get(node).into_iter().flatten()
    }

    pub(crate) fn load(&self, node: &str) -> usize {
        self.pods.get(node).map_or(0, BTreeSet::len)
    }

    pub(crate) fn ending_namespaces(&self) -> impl Iterator<Item = &Key> {
        self.ending_namespaces.iter()
    }
}

pub(crate) fn owners(value: &Value) -> impl Iterator<Item = &str> {
    objects::list(value, &["metadata", "ownerReferences"])
        .iter()
        .map(|reference| text(reference, &["uid"]))
}

fn take<T: Ord>(sets: &mut BTreeMap<String, BTreeSet<T>>, name: &str, member: &T) {
    if let Some(set) = sets.get_mut(name) {
        set.remove(member);
        if set.is_empty() {
            sets.remove(name);
        }
    }
}
