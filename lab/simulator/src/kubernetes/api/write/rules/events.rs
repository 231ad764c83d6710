//! Rules of events: the namespaces of events and their objects, and the requirements of the newer API.
//!
//! One rule serves both APIs: what counts is the presence of an `eventTime`. Events are checked in their stored form.

use serde_json::Value;

use crate::kubernetes::api::state::FieldError;
use crate::kubernetes::api::write::metadata::{is_name, is_word};
use crate::kubernetes::store::objects::{self, number, text};

/// Maximum lengths in an event with an `eventTime`, in bytes.
const MAX_NAME: usize = 128;
const MAX_NOTE: usize = 1024;

/// Immutable members of events of the newer API. `series` is not among them.
const FIXED: [(&str, &str); 13] = [
    ("involvedObject", "involvedObject"),
    ("reason", "reason"),
    ("message", "message"),
    ("source", "source"),
    ("firstTimestamp", "firstTimestamp"),
    ("lastTimestamp", "lastTimestamp"),
    ("count", "count"),
    ("type", "type"),
    ("eventTime", "eventTime"),
    ("action", "action"),
    ("related", "related"),
    ("reportingComponent", "reportingController"),
    ("reportingInstance", "reportingInstance"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    Core,
    New,
}

pub(super) fn check(api: Api, old: Option<&Value>, event: &Value) -> Vec<FieldError> {
    let mut errors = check_namespace(event);
    if has_time(event) {
        errors.extend(check_members(api, event));
    }
    if api == Api::New {
        errors.extend(match old {
            Some(old) => check_change(old, event),
            None => check_new(event),
        });
    }
    errors
}

fn has_time(event: &Value) -> bool {
    !text(event, &["eventTime"]).is_empty()
}

fn check_namespace(event: &Value) -> Vec<FieldError> {
    let own = objects::namespace(event);
    let about = text(event, &["involvedObject", "namespace"]);
    let fits = match (has_time(event), about.is_empty()) {
        (false, true) => own == "default",
        (false, false) => own == about,
        (true, true) => own == "kube-system" || own == "default",
        (true, false) => true,
    };
    if fits {
        return Vec::new();
    }
    let why = "does not match event.namespace";
    vec![FieldError::invalid("involvedObject.namespace", &about.into(), why)]
}

/// Checks the requirements of both APIs on an event with an `eventTime`.
fn check_members(api: Api, event: &Value) -> Vec<FieldError> {
    let reporter = if api == Api::New { "reportingController" } else { "reportingComponent" };
    let mut errors = Vec::new();
    for (stored, named) in [
        ("reportingComponent", reporter),
        ("reportingInstance", "reportingInstance"),
        ("action", "action"),
        ("reason", "reason"),
    ] {
        let value = text(event, &[stored]);
        if value.is_empty() {
            errors.push(FieldError::required(named, ""));
        } else if value.len() > MAX_NAME && stored != "reportingComponent" {
            errors.push(too_long(named, MAX_NAME));
        }
    }
    let reported_by = text(event, &["reportingComponent"]);
    if !reported_by.is_empty() && !is_qualified_name(reported_by) {
        let why = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                   alphanumeric character";
        errors.push(FieldError::invalid(reporter, &reported_by.into(), why));
    }
    if text(event, &["message"]).len() > MAX_NOTE {
        errors.push(too_long("message", MAX_NOTE));
    }
    errors
}

/// Checks the requirements of the newer API on a new event.
fn check_new(event: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut wrong =
        |field: &str, why: &str| errors.push(FieldError::invalid(field, &"".into(), why));
    let kind = text(event, &["type"]);
    if !matches!(kind, "Normal" | "Warning") {
        wrong("type", &format!("has invalid value: {kind}"));
    }
    for field in ["firstTimestamp", "lastTimestamp"] {
        if !text(event, &[field]).is_empty() {
            wrong(field, "needs to be unset");
        }
    }
    if number(event, &["count"]).unwrap_or_default() != 0 {
        wrong("count", "needs to be unset");
    }
    if ["component", "host"].iter().any(|part| !text(event, &["source", part]).is_empty()) {
        wrong("source", "needs to be unset");
    }
    if !has_time(event) {
        errors.push(FieldError::required("eventTime", ""));
    }
    errors
}

fn check_change(old: &Value, event: &Value) -> Vec<FieldError> {
    let changed = FIXED.iter().filter(|(stored, _)| old.get(stored) != event.get(stored));
    let invalid = |(stored, named): &(&str, &str)| {
        FieldError::invalid(named, &event[stored], "field is immutable")
    };
    changed.map(invalid).collect()
}

fn too_long(field: &str, most: usize) -> FieldError {
    FieldError::invalid(field, &"".into(), &format!("can have at most {most} characters"))
}

fn is_qualified_name(text: &str) -> bool {
    let (prefix, name) = text.split_once('/').map_or((None, text), |(a, b)| (Some(a), b));
    is_name(name) && prefix.is_none_or(|prefix| is_word(prefix, 253, b"-."))
}
