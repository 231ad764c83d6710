//! Events have two faces: `v1` and `events.k8s.io/v1` show the same objects. The store holds the first.

use serde_json::Value;

use super::objects::members;

/// Members with another name in the newer form: (old, new).
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// From the stored form to `events.k8s.io/v1`.
pub(crate) fn to_new_form(event: &mut Value) {
    rename(event, |(old, new)| (old, new));
}

/// From `events.k8s.io/v1` to the stored form.
pub(crate) fn to_old_form(event: &mut Value) {
    rename(event, |(old, new)| (new, old));
}

fn rename(
    event: &mut Value,
    direction: impl Fn((&'static str, &'static str)) -> (&'static str, &'static str),
) {
    let members = members(event);
    for names in NAMES {
        let (from, to) = direction(names);
        if let Some(value) = members.remove(from) {
            members.insert(to.to_owned(), value);
        }
    }
}
