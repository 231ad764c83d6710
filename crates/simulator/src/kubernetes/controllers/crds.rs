//! Deleted CRDs: their objects first, then they.

use jiff::Timestamp;

use crate::kubernetes::api::crd::definition::CLEANUP;
use crate::kubernetes::api::state::{ApiServer, CRDS, Writer};
use crate::kubernetes::api::write::delete::DeleteOptions;
use crate::kubernetes::store::objects::{self, Key};

/// Deletes the objects of deleted definitions, and the definitions once nothing is left of them.
pub(crate) fn settle_definitions(api: &mut ApiServer, now: Timestamp) -> bool {
    let mut changed = false;
    for table in api.removed_definitions.clone() {
        let key = Key::new(None, &table);
        let Some(resource) = api.catalogue.named(&table) else { continue };
        let keys: Vec<Key> = api
            .store
            .list(&table, None)
            .filter(|(_, object)| !objects::is_being_deleted(&object.value))
            .map(|(key, _)| key.clone())
            .collect();
        for key in keys {
            let options = DeleteOptions::background();
            changed |= api.delete_object(&resource, &key, &options, &Writer::cluster(now)).is_ok();
        }
        let Some(definition) = api.get(CRDS, &key) else { continue };
        if api.store.count(&table) > 0 || objects::finalizers(definition).all(|one| one != CLEANUP)
        {
            continue;
        }
        let mut value = definition.clone();
        let left: Vec<String> = objects::finalizers(definition)
            .filter(|one| *one != CLEANUP)
            .map(str::to_owned)
            .collect();
        changed = true;
        if left.is_empty() {
            api.erase(CRDS, &key, &Writer::controller(now));
        } else {
            objects::set(&mut value, &["metadata", "finalizers"], left);
            api.put(CRDS, value, &Writer::controller(now));
        }
    }
    changed
}
