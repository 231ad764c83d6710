//! Deletion of CRDs: their objects first.

use jiff::Timestamp;

use crate::kubernetes::api::crd::definition::CLEANUP;
use crate::kubernetes::api::state::{ApiServer, CRDS, WriteContext};
use crate::kubernetes::store::objects::{self, Key};

/// Deletes the objects of deleted CRDs, and then the CRDs.
pub(crate) fn settle_definitions(api: &mut ApiServer, now: Timestamp) -> bool {
    let mut changed = false;
    for table in api.removed_definitions.clone() {
        let key = Key::new(None, &table);
        let Some(resource) = api.catalog.named(&table) else { continue };
        changed |= api.delete_all(&resource, None, now);
        let Some(definition) = api.get(CRDS, &key) else { continue };
        if api.store.count(&table) > 0 || objects::finalizers(definition).all(|one| one != CLEANUP)
        {
            continue;
        }
        let mut value = definition.clone();
        objects::remove_finalizer(&mut value, CLEANUP);
        api.finish(CRDS, value, &WriteContext::controller(now));
        changed = true;
    }
    changed
}
