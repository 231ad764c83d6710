//! Versions of objects: the stored form, and the form of each resource.
//!
//! Events have two forms: `v1` and `events.k8s.io/v1` show the same objects. The store holds the first.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::kubernetes::api::state::Resource;
use crate::kubernetes::store::StoredObject;
use crate::kubernetes::store::objects::members;

/// Renamed members of events: the stored name, and that in `events.k8s.io/v1`.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

fn rename(event: &mut Value, names: [(&str, &str); 7]) {
    let members = members(event);
    for (from, to) in names {
        if let Some(value) = members.remove(from) {
            members.insert(to.to_owned(), value);
        }
    }
}

pub(crate) fn shown(resource: &Resource, object: &Arc<StoredObject>) -> Bytes {
    if is_stored_form(resource) {
        return object.bytes.clone();
    }
    Bytes::from(converted(resource, &object.value).to_string())
}

pub(crate) fn is_stored_form(resource: &Resource) -> bool {
    resource.stored_as == resource.api_version()
}

pub(crate) fn converted(resource: &Resource, stored: &Value) -> Value {
    let mut value = stored.clone();
    if resource.group == "events.k8s.io" {
        rename(&mut value, NAMES);
    }
    value["apiVersion"] = resource.api_version().into();
    value
}

/// Converts an object of this version to the stored form.
pub(crate) fn to_stored(resource: &Resource, mut value: Value) -> Value {
    if resource.group == "events.k8s.io" {
        rename(&mut value, NAMES.map(|(old, new)| (new, old)));
    }
    value["apiVersion"] = resource.stored_as.clone().into();
    value["kind"] = resource.kind.clone().into();
    value
}
