//! The garbage collector: objects go with their owners, in the order that a deletion asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::delete::DeleteOptions;
use super::inside::Writer;
use super::model::Kubernetes;
use super::objects::{self, Key, flag, text};
use super::resources::Resource;

/// An object that has owners, or that the collector holds back.
struct Held {
    resource: Arc<Resource>,
    key: Key,
    value: Value,
}

impl Kubernetes {
    pub(crate) fn settle_garbage(&mut self, now: Timestamp) -> bool {
        let (held, living) = self.survey();
        let mut dependents: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (n, one) in held.iter().enumerate() {
            for owner in objects::list(&one.value, &["metadata", "ownerReferences"]) {
                dependents.entry(text(owner, &["uid"]).to_owned()).or_default().push(n);
            }
        }
        let mut changed = false;
        for one in &held {
            changed |= self.let_owner_go(one, &held, &dependents, now);
            changed |= self.follow_owners(one, &living, now);
        }
        changed
    }

    /// Everything that the collector may have to act on, and the uids of all that is there; those that wait
    /// for their dependents are marked.
    fn survey(&self) -> (Vec<Held>, BTreeMap<String, bool>) {
        let (mut held, mut living) = (Vec::new(), BTreeMap::new());
        let mut seen = BTreeSet::new();
        for resource in self.catalogue.all().filter(|one| !one.is_review()) {
            if !seen.insert(resource.table.clone()) {
                continue;
            }
            for (key, object) in self.store.list(&resource.table, None) {
                let value = &object.value;
                let waits = objects::is_being_deleted(value)
                    && objects::finalizers(value).any(|one| one == "foregroundDeletion");
                living.insert(objects::uid(value).to_owned(), waits);
                let owned = !objects::list(value, &["metadata", "ownerReferences"]).is_empty();
                if owned || objects::is_being_deleted(value) {
                    let (resource, key) = (Arc::clone(resource), key.clone());
                    held.push(Held { resource, key, value: value.clone() });
                }
            }
        }
        (held, living)
    }

    /// An owner that waits for its dependents goes when none blocks it; one that gives them up goes at once.
    fn let_owner_go(
        &mut self,
        owner: &Held,
        held: &[Held],
        dependents: &BTreeMap<String, Vec<usize>>,
        now: Timestamp,
    ) -> bool {
        if !objects::is_being_deleted(&owner.value) {
            return false;
        }
        let uid = objects::uid(&owner.value).to_owned();
        let mine: Vec<&Held> =
            dependents.get(&uid).into_iter().flatten().map(|n| &held[*n]).collect();
        let finalizer = objects::finalizers(&owner.value)
            .find(|one| matches!(*one, "orphan" | "foregroundDeletion"))
            .map(str::to_owned);
        match finalizer.as_deref() {
            Some("orphan") => {
                for one in &mine {
                    self.drop_owners(one, |reference| text(reference, &["uid"]) == uid, now);
                }
                self.drop_finalizer(owner, "orphan", now)
            }
            Some("foregroundDeletion") => {
                let blocked = mine.iter().any(|one| {
                    self.store.get(&one.resource.table, &one.key).is_some()
                        && objects::list(&one.value, &["metadata", "ownerReferences"]).iter().any(
                            |reference| {
                                text(reference, &["uid"]) == uid
                                    && flag(reference, &["blockOwnerDeletion"])
                            },
                        )
                });
                !blocked && self.drop_finalizer(owner, "foregroundDeletion", now)
            }
            _ => false,
        }
    }

    /// A dependent goes when no owner is left, or when the last one waits for it to go.
    fn follow_owners(
        &mut self,
        one: &Held,
        living: &BTreeMap<String, bool>,
        now: Timestamp,
    ) -> bool {
        let references = objects::list(&one.value, &["metadata", "ownerReferences"]);
        if references.is_empty() || objects::is_being_deleted(&one.value) {
            return false;
        }
        let state = |reference: &Value| living.get(text(reference, &["uid"])).copied();
        let solid = references.iter().filter(|reference| state(reference) == Some(false)).count();
        let waiting = references.iter().any(|reference| state(reference) == Some(true));
        if solid > 0 {
            let living: Vec<String> = references
                .iter()
                .filter(|reference| state(reference) == Some(false))
                .map(|reference| text(reference, &["uid"]).to_owned())
                .collect();
            let gone = references.len() > living.len();
            return gone
                && self.drop_owners(
                    one,
                    |reference| !living.iter().any(|uid| text(reference, &["uid"]) == uid),
                    now,
                );
        }
        let options = if waiting {
            DeleteOptions::from_body(&serde_json::json!({"propagationPolicy": "Foreground"}))
        } else {
            DeleteOptions::background()
        };
        self.delete_object(&one.resource, &one.key, &options, &Writer::cluster(), now).is_ok()
    }

    fn drop_owners(&mut self, one: &Held, gone: impl Fn(&Value) -> bool, now: Timestamp) -> bool {
        let Some(object) = self.store.get(&one.resource.table, &one.key) else { return false };
        let mut value = object.value.clone();
        let mut left = objects::list(&value, &["metadata", "ownerReferences"]).to_vec();
        left.retain(|reference| !gone(reference));
        if left.is_empty() {
            objects::remove(&mut value, &["metadata", "ownerReferences"]);
        } else {
            objects::set(&mut value, &["metadata", "ownerReferences"], left);
        }
        self.store_object(&one.resource.table, value, now, None);
        true
    }

    fn drop_finalizer(&mut self, one: &Held, finalizer: &str, now: Timestamp) -> bool {
        let Some(object) = self.store.get(&one.resource.table, &one.key) else { return false };
        let mut value = object.value.clone();
        let left: Vec<String> = objects::finalizers(&value)
            .filter(|other| *other != finalizer)
            .map(str::to_owned)
            .collect();
        objects::set(&mut value, &["metadata", "finalizers"], left);
        let part = super::update::Part::Main;
        self.replace(&one.resource, &one.key, value, part, &Writer::cluster(), now).is_ok()
    }
}
