//! The garbage collector: deletes dependents by propagation policy.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kubernetes::api::state::{ApiServer, ChangeQueue, ObjectPart, WriteContext};
use crate::kubernetes::api::write::delete::DeleteOptions;
use crate::kubernetes::store::objects::{self, flag, text};
use crate::kubernetes::store::{ObjectKey, StoredObject};

/// Finalizer of an owner that waits for its dependents.
const FOREGROUND: &str = "foregroundDeletion";
/// Finalizer of an owner that orphans its dependents.
const ORPHAN: &str = "orphan";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Gone,
    WaitsForDependents,
    Stays,
}

pub(crate) fn settle_garbage(api: &mut ApiServer, work: &ChangeQueue, now: Timestamp) {
    for place in work.all() {
        let_owner_go(api, place, now);
        follow_owners(api, place, now);
    }
}

fn object_at(api: &ApiServer, place: &ObjectKey) -> Option<Arc<StoredObject>> {
    api.store.get(&place.table, &place.key).cloned()
}

/// Removes the finalizer of an owner without blocking dependents, or orphans them.
fn let_owner_go(api: &mut ApiServer, place: &ObjectKey, now: Timestamp) {
    let Some(owner) = object_at(api, place) else { return };
    if !objects::is_being_deleted(&owner.value) {
        return;
    }
    let uid = objects::uid(&owner.value);
    let has = |finalizer: &str| objects::finalizers(&owner.value).any(|one| one == finalizer);
    if has(ORPHAN) {
        let mine: Vec<ObjectKey> = api.store.index().dependents(uid).cloned().collect();
        for dependent in &mine {
            drop_owners(api, dependent, |reference| text(reference, &["uid"]) == uid, now);
        }
        drop_finalizer(api, place, ORPHAN, now);
    } else if has(FOREGROUND) {
        let blocks = |dependent: &StoredObject| {
            objects::list(&dependent.value, &["metadata", "ownerReferences"])
                .iter()
                .any(|one| text(one, &["uid"]) == uid && flag(one, &["blockOwnerDeletion"]))
        };
        let index = api.store.index();
        let mut mine = index.dependents(uid).filter_map(|one| object_at(api, one));
        let blocked = mine.any(|one| blocks(&one));
        drop(mine);
        if !blocked {
            drop_finalizer(api, place, FOREGROUND, now);
        }
    }
}

/// Deletes a dependent without a remaining owner, or whose last owner waits for it.
fn follow_owners(api: &mut ApiServer, place: &ObjectKey, now: Timestamp) {
    let Some(dependent) = object_at(api, place) else { return };
    let references = objects::list(&dependent.value, &["metadata", "ownerReferences"]);
    if references.is_empty() || objects::is_being_deleted(&dependent.value) {
        return;
    }
    let (left, gone): (Vec<&Value>, Vec<&Value>) =
        references.iter().partition(|one| owner(api, one) == Owner::Stays);
    if !left.is_empty() {
        if !gone.is_empty() {
            drop_owners(api, place, |reference| gone.contains(&reference), now);
        }
        return;
    }
    let options = if gone.iter().any(|one| owner(api, one) == Owner::WaitsForDependents) {
        DeleteOptions::from_body(&json!({"propagationPolicy": "Foreground"}))
    } else {
        DeleteOptions::background()
    };
    let Some(resource) = api.catalog.named(&place.table) else { return };
    // A rejected deletion is retried when the object or an owner changes.
    let _ = api.delete_object(&resource, &place.key, &options, &WriteContext::cluster(now));
}

fn owner(api: &ApiServer, reference: &Value) -> Owner {
    let place = api.store.index().place_of(text(reference, &["uid"]));
    match place.and_then(|place| api.store.get(&place.table, &place.key)) {
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

fn drop_owners(
    api: &mut ApiServer,
    place: &ObjectKey,
    gone: impl Fn(&Value) -> bool,
    now: Timestamp,
) {
    let Some(object) = object_at(api, place) else { return };
    let mut left = objects::list(&object.value, &["metadata", "ownerReferences"]).to_vec();
    left.retain(|reference| !gone(reference));
    api.amend(&place.table, &object.value, now, |value| {
        objects::set_list(value, &["metadata", "ownerReferences"], left);
    });
}

fn drop_finalizer(api: &mut ApiServer, place: &ObjectKey, finalizer: &str, now: Timestamp) {
    let Some(object) = object_at(api, place) else { return };
    let Some(resource) = api.catalog.named(&place.table) else { return };
    let mut value = object.value.clone();
    objects::remove_finalizer(&mut value, finalizer);
    let _ =
        api.replace(&resource, &place.key, value, ObjectPart::Main, &WriteContext::cluster(now));
}
