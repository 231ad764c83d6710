//! The garbage collector: deletes dependents whose owners are gone.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use crate::kubernetes::api::state::{ApiServer, ChangeQueue, WriteContext};
use crate::kubernetes::api::write::delete::DeleteOptions;
use crate::kubernetes::store::ObjectKey;
use crate::kubernetes::store::objects::{self, text};

pub(crate) fn settle_garbage(api: &mut ApiServer, work: &ChangeQueue, now: Timestamp) {
    for place in work.all() {
        follow_owners(api, place, now);
    }
}

/// Deletes a dependent without a remaining owner; drops references to owners that are gone.
fn follow_owners(api: &mut ApiServer, place: &ObjectKey, now: Timestamp) {
    let Some(dependent) = api.store.get(&place.table, &place.key).map(Arc::clone) else { return };
    let references = objects::list(&dependent.value, &["metadata", "ownerReferences"]);
    if references.is_empty() || objects::is_being_deleted(&dependent.value) {
        return;
    }
    let index = api.store.index();
    let is_left = |reference: &&Value| index.place_of(text(reference, &["uid"])).is_some();
    let left: Vec<Value> = references.iter().filter(is_left).cloned().collect();
    if left.is_empty() {
        let Some(resource) = api.catalog.named(&place.table) else { return };
        let (options, writer) = (DeleteOptions::default(), WriteContext::cluster(now));
        // A rejected deletion is retried when the object or an owner changes.
        let _ = api.delete_object(&resource, &place.key, &options, &writer);
    } else if left.len() < references.len() {
        api.amend(&place.table, &dependent.value, now, |value| {
            objects::set_list(value, &["metadata", "ownerReferences"], left);
        });
    }
}
