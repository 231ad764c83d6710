//! Objects in tables, one revision counter for all, and recent changes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::Value;

use super::index::Index;
use super::objects::{self, Key};

/// One immutable version of one object. Its bytes are serialized once, for every list and watch.
#[derive(Debug)]
pub(crate) struct StoredObject {
    pub(crate) value: Value,
    pub(crate) bytes: Bytes,
    pub(crate) revision: u64,
    item: OnceLock<Bytes>,
}

/// Serializes an object as an item of a list of built-in objects, without `apiVersion` and `kind`.
pub(crate) fn item(value: &Value) -> Bytes {
    let members: BTreeMap<&String, &Value> = value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind"))
        .collect();
    serde_json::to_vec(&members).map(Bytes::from).unwrap_or_default()
}

impl StoredObject {
    /// Returns its bytes as an item, serialized on first use.
    pub(crate) fn as_item(&self) -> Bytes {
        self.item.get_or_init(|| item(&self.value)).clone()
    }

    /// Returns the same object with another revision.
    pub(crate) fn at_revision(&self, revision: u64) -> Arc<Self> {
        Self::new(self.value.clone(), revision)
    }

    fn new(mut value: Value, revision: u64) -> Arc<Self> {
        objects::set(&mut value, &["metadata", "resourceVersion"], revision.to_string());
        let bytes = Bytes::from(value.to_string());
        Arc::new(Self { value, bytes, revision, item: OnceLock::new() })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// A change, as watches report it.
#[derive(Debug, Clone)]
pub(crate) struct ObjectChange {
    pub(crate) at: Timestamp,
    pub(crate) kind: ChangeKind,
    pub(crate) key: Key,
    /// The object after the change; for a deletion the last state, with the deletion's revision.
    pub(crate) object: Arc<StoredObject>,
    pub(crate) previous: Option<Arc<StoredObject>>,
}

impl ObjectChange {
    pub(crate) fn revision(&self) -> u64 {
        self.object.revision
    }
}

#[derive(Debug, Default)]
struct Table {
    objects: BTreeMap<Key, Arc<StoredObject>>,
    log: VecDeque<ObjectChange>,
    /// Newest revision that the log no longer covers.
    compacted: u64,
}

#[derive(Debug)]
pub(crate) struct ObjectStore {
    revision: u64,
    tables: BTreeMap<String, Table>,
    index: Index,
    history: usize,
    /// Revision of the last restart: older ones are unknown.
    restarted: u64,
}

impl ObjectStore {
    pub(crate) fn new(history: usize) -> Self {
        Self {
            revision: 1,
            tables: BTreeMap::new(),
            index: Index::default(),
            history,
            restarted: 0,
        }
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    pub(crate) fn get(&self, table: &str, key: &Key) -> Option<&Arc<StoredObject>> {
        self.tables.get(table)?.objects.get(key)
    }

    /// Returns the objects of a table, or of one of its namespaces, in order.
    pub(crate) fn list(
        &self,
        table: &str,
        namespace: Option<&str>,
    ) -> impl Iterator<Item = (&Key, &Arc<StoredObject>)> {
        let first = Key::new(namespace, "");
        let namespace = namespace.map(str::to_owned);
        self.tables
            .get(table)
            .into_iter()
            .flat_map(move |table| table.objects.range(first.clone()..))
            .take_while(move |(key, _)| {
                namespace.as_ref().is_none_or(|namespace| key.namespace == *namespace)
            })
    }

    /// Returns true if the changes after a revision are known.
    fn covers(&self, table: &str, revision: u64) -> bool {
        let compacted = self.tables.get(table).map_or(0, |table| table.compacted);
        revision >= self.restarted.max(compacted)
    }

    /// Returns the objects at a revision; none if it was compacted.
    pub(crate) fn list_at(
        &self,
        table: &str,
        namespace: Option<&str>,
        revision: u64,
    ) -> Option<BTreeMap<Key, Arc<StoredObject>>> {
        let mut objects: BTreeMap<Key, Arc<StoredObject>> = self
            .list(table, namespace)
            .map(|(key, object)| (key.clone(), Arc::clone(object)))
            .collect();
        if !self.covers(table, revision) {
            return None;
        }
        let Some(table) = self.tables.get(table) else { return Some(objects) };
        for change in table.log.iter().rev().take_while(|change| change.revision() > revision) {
            if namespace.is_some_and(|namespace| change.key.namespace != namespace) {
                continue;
            }
            match &change.previous {
                Some(previous) => objects.insert(change.key.clone(), Arc::clone(previous)),
                None => objects.remove(&change.key),
            };
        }
        Some(objects)
    }

    /// Returns the revision at a time, as far as this table records it.
    pub(crate) fn revision_at(&self, table: &str, time: Timestamp) -> u64 {
        let Some(table) = self.tables.get(table) else { return self.revision };
        match table.log.iter().find(|change| change.at > time) {
            Some(change) => change.revision().saturating_sub(1).max(table.compacted),
            None => self.revision,
        }
    }

    /// Returns the changes after a revision; none if some were compacted.
    pub(crate) fn changes_since(
        &self,
        table: &str,
        revision: u64,
    ) -> Option<impl Iterator<Item = &ObjectChange>> {
        if !self.covers(table, revision) {
            return None;
        }
        let log = self.tables.get(table).map(|table| &table.log).into_iter().flatten();
        Some(log.skip_while(move |change| change.revision() <= revision))
    }

    pub(crate) fn put(&mut self, table: &str, value: Value, now: Timestamp) -> ObjectChange {
        self.revision += 1;
        let key = objects::key_of(&value);
        let object = StoredObject::new(value, self.revision);
        let entry = self.tables.entry(table.to_owned()).or_default();
        let previous = entry.objects.insert(key.clone(), Arc::clone(&object));
        if let Some(previous) = &previous {
            self.index.leave(table, &key, &previous.value);
        }
        self.index.enter(table, &key, &object.value);
        let kind = if previous.is_some() { ChangeKind::Modified } else { ChangeKind::Added };
        self.remember(table, ObjectChange { at: now, kind, key, object, previous })
    }

    pub(crate) fn remove(
        &mut self,
        table: &str,
        key: &Key,
        now: Timestamp,
    ) -> Option<ObjectChange> {
        let previous = self.tables.get_mut(table)?.objects.remove(key)?;
        self.index.leave(table, key, &previous.value);
        self.revision += 1;
        let object = StoredObject::new(previous.value.clone(), self.revision);
        let (kind, key, previous) = (ChangeKind::Deleted, key.clone(), Some(previous));
        Some(self.remember(table, ObjectChange { at: now, kind, key, object, previous }))
    }

    fn remember(&mut self, table: &str, change: ObjectChange) -> ObjectChange {
        let history = self.history;
        if let Some(table) = self.tables.get_mut(table) {
            table.log.push_back(change.clone());
            while table.log.len() > history {
                if let Some(forgotten) = table.log.pop_front() {
                    table.compacted = forgotten.revision();
                }
            }
        }
        change
    }

    /// Drops the history, as a compaction does, or a restart of a server that kept it in memory only.
    pub(crate) fn forget(&mut self) {
        self.restarted = self.revision;
        for table in self.tables.values_mut() {
            table.log.clear();
            table.compacted = self.revision;
        }
    }

    /// Drops a table whose resource was deleted.
    pub(crate) fn drop_table(&mut self, table: &str) {
        for (key, object) in self.tables.remove(table).unwrap_or_default().objects {
            self.index.leave(table, &key, &object.value);
        }
    }

    pub(crate) fn count(&self, table: &str) -> usize {
        self.tables.get(table).map_or(0, |table| table.objects.len())
    }

    pub(crate) fn total(&self) -> usize {
        self.tables.values().map(|table| table.objects.len()).sum()
    }
}
