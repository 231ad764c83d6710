//! Effects of a write to a CRD: served resources and status.

use jiff::Timestamp;
use serde_json::Value;

use crate::kubernetes::api::crd::definition::{CLEANUP, resources};
use crate::kubernetes::api::state::{ApiServer, CRDS, WriteContext};
use crate::kubernetes::store::objects::{self, flag, list};

impl ApiServer {
    /// Serves the versions of a CRD, and updates its status.
    pub(crate) fn definition_changed(&mut self, definition: &Value, now: Timestamp) {
        let table = objects::name(definition).to_owned();
        self.catalog.replace_custom(&table, resources(definition));
        let mut value = definition.clone();
        if objects::is_being_deleted(definition) {
            let (reason, message) =
                ("InstanceDeletionInProgress", "CustomResource deletion is in progress");
            objects::set_condition(&mut value, "Terminating", "True", reason, message, now);
            self.removed_definitions.insert(table);
        } else {
            if objects::finalizers(definition).all(|one| one != CLEANUP) {
                let finalizers = objects::finalizers(definition).chain([CLEANUP]);
                let finalizers: Vec<&str> = finalizers.collect();
                objects::set(&mut value, &["metadata", "finalizers"], finalizers);
            }
            let conditions = [
                ("NamesAccepted", "NoConflicts", "no conflicts found"),
                ("Established", "InitialNamesAccepted", "the initial names have been accepted"),
            ];
            for (kind, reason, message) in conditions {
                objects::set_condition(&mut value, kind, "True", reason, message, now);
            }
            let names = value["spec"]["names"].clone();
            objects::set(&mut value, &["status", "acceptedNames"], names);
            let storage = list(definition, &["spec", "versions"])
                .iter()
                .find(|version| flag(version, &["storage"]))
                .map(|version| version["name"].clone());
            let mut stored = list(definition, &["status", "storedVersions"]).to_vec();
            stored.extend(storage.filter(|storage| !stored.contains(storage)));
            objects::set(&mut value, &["status", "storedVersions"], stored);
        }
        if value != *definition {
            self.put(CRDS, value, &WriteContext::controller(now));
        }
    }

    pub(crate) fn definition_gone(&mut self, definition: &Value) {
        let table = objects::name(definition);
        self.catalog.replace_custom(table, Vec::new());
        self.watches.remove(table);
        self.store.drop_table(table);
        self.removed_definitions.remove(table);
    }
}
