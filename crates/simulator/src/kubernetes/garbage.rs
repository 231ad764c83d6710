//! The garbage collector: objects go with their owners, in the order that a deletion asks for.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::delete::DeleteOptions;
use super::index::Place;
use super::inside::Writer;
use super::model::Kubernetes;
use super::objects::{self, flag, text};
use super::settle::Work;
use super::store::Object;
use super::update::Part;

/// The finalizer of an owner that waits for its dependents.
const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an owner that gives them up.
const ORPHAN: &str = "orphan";

/// What has become of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Gone,
    WaitsForDependents,
    Stays,
}

impl Kubernetes {
    pub(crate) fn settle_garbage(&mut self, work: &Work, now: Timestamp) {
        for place in work.all() {
            self.let_owner_go(place, now);
            self.follow_owners(place, now);
        }
    }

    fn object_at(&self, place: &Place) -> Option<Arc<Object>> {
        self.store.get(&place.table, &place.key).cloned()
    }

    /// An owner that waits for its dependents goes when none blocks it; one that gives them up goes at once.
    fn let_owner_go(&mut self, place: &Place, now: Timestamp) {
        let Some(owner) = self.object_at(place) else { return };
        if !objects::is_being_deleted(&owner.value) {
            return;
        }
        let uid = objects::uid(&owner.value);
        let has = |finalizer: &str| objects::finalizers(&owner.value).any(|one| one == finalizer);
        if has(ORPHAN) {
            let mine: Vec<Place> = self.store.index().dependents(uid).cloned().collect();
            for dependent in &mine {
                self.drop_owners(dependent, |reference| text(reference, &["uid"]) == uid, now);
            }
            self.drop_finalizer(place, ORPHAN, now);
        } else if has(FOREGROUND) {
            let blocks = |dependent: &Object| {
                objects::list(&dependent.value, &["metadata", "ownerReferences"])
                    .iter()
                    .any(|one| text(one, &["uid"]) == uid && flag(one, &["blockOwnerDeletion"]))
            };
            let index = self.store.index();
            let mut mine = index.dependents(uid).filter_map(|one| self.object_at(one));
            let blocked = mine.any(|one| blocks(&one));
            drop(mine);
            if !blocked {
                self.drop_finalizer(place, FOREGROUND, now);
            }
        }
    }

    /// A dependent goes when no owner is left, or when the last one waits for it to go.
    fn follow_owners(&mut self, place: &Place, now: Timestamp) {
        let Some(dependent) = self.object_at(place) else { return };
        let references = objects::list(&dependent.value, &["metadata", "ownerReferences"]);
        if references.is_empty() || objects::is_being_deleted(&dependent.value) {
            return;
        }
        let states: Vec<Owner> = references.iter().map(|one| self.owner(one)).collect();
        if states.contains(&Owner::Stays) {
            if states.iter().any(|state| *state != Owner::Stays) {
                let gone: Vec<Value> = references
                    .iter()
                    .zip(&states)
                    .filter(|(_, state)| **state != Owner::Stays)
                    .map(|(reference, _)| reference.clone())
                    .collect();
                self.drop_owners(place, |reference| gone.contains(reference), now);
            }
            return;
        }
        let options = if states.contains(&Owner::WaitsForDependents) {
            DeleteOptions::from_body(&json!({"propagationPolicy": "Foreground"}))
        } else {
            DeleteOptions::background()
        };
        let Some(resource) = self.catalogue.named(&place.table) else { return };
        // What is refused now is looked at again when it, or an owner, changes.
        let _ = self.delete_object(&resource, &place.key, &options, &Writer::cluster(), now);
    }

    fn owner(&self, reference: &Value) -> Owner {
        let place = self.store.index().place_of(text(reference, &["uid"]));
        match place.and_then(|place| self.store.get(&place.table, &place.key)) {
            None => Owner::Gone,
            Some(owner)
                if objects::is_being_deleted(&owner.value)
                    && objects::finalizers(&owner.value).any(|one| one == FOREGROUND) =>
            {
                Owner::WaitsForDependents
            }
            Some(_) => Owner::Stays,
        }
    }

    fn drop_owners(&mut self, place: &Place, gone: impl Fn(&Value) -> bool, now: Timestamp) {
        let Some(object) = self.object_at(place) else { return };
        let mut value = object.value.clone();
        let mut left = objects::list(&value, &["metadata", "ownerReferences"]).to_vec();
        left.retain(|reference| !gone(reference));
        if left.is_empty() {
            objects::remove(&mut value, &["metadata", "ownerReferences"]);
        } else {
            objects::set(&mut value, &["metadata", "ownerReferences"], left);
        }
        self.store_object(&place.table, value, now, None);
    }

    fn drop_finalizer(&mut self, place: &Place, finalizer: &str, now: Timestamp) {
        let Some(object) = self.object_at(place) else { return };
        let Some(resource) = self.catalogue.named(&place.table) else { return };
        let mut value = object.value.clone();
        let left: Vec<String> = objects::finalizers(&value)
            .filter(|other| *other != finalizer)
            .map(str::to_owned)
            .collect();
        objects::set(&mut value, &["metadata", "finalizers"], left);
        let _ = self.replace(&resource, &place.key, value, Part::Main, &Writer::cluster(), now);
    }
}
