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
pub(super) struct Api {
    pub(super) new: bool,
    /// A server before 1.23.
    pub(super) old_server: bool,
}

pub(super) fn check(api: Api, old: Option<&Value>, event: &Value) -> Vec<FieldError> {
    let mut errors = check_namespace(api, event);
    if has_time(event) {
        errors.extend(check_members(api, event));
    }
    if api.new {
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

fn check_namespace(api: Api, event: &Value) -> Vec<FieldError> {
    let own = objects::namespace(event);
    let about = text(event, &["involvedObject", "namespace"]);
    let fits = match (has_time(event), about.is_empty()) {
        (false, true) => own == "default",
        (false, false) => own == about,
        (true, true) => own == "kube-system" || (own == "default" && !api.old_server),
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
    let reporter =
        if api.new || api.old_server { "reportingController" } else { "reportingComponent" };
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: Api = Api { new: true, old_server: false };
    const CORE: Api = Api { new: false, old_server: false };
    const OLD: Api = Api { new: true, old_server: true };
    const OLD_CORE: Api = Api { new: false, old_server: true };
    const REFUSAL: &str =
        "involvedObject.namespace: Invalid value: \"ABOUT\": does not match event.namespace";

    fn event(timed: bool, own: &str, about: &str) -> Value {
        let mut event = json!({
            "metadata": {"name": "e", "namespace": own},
            "involvedObject": {"kind": "NodeClaim", "name": "default-x1", "uid": "u"},
            "type": "Warning", "reason": "CSEFailed", "message": "m",
        });
        if !about.is_empty() {
            event["involvedObject"]["namespace"] = json!(about);
        }
        if timed {
            event["eventTime"] = json!("2026-11-15T08:00:00.000000Z");
            event["action"] = json!("Bootstrap");
            event["reportingComponent"] = json!("mooring");
            event["reportingInstance"] = json!("mooring-0");
        }
        event
    }

    fn messages(api: Api, event: &Value) -> Vec<String> {
        let errors = check(api, None, event);
        errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect()
    }

    #[test]
    fn event_namespaces_follow_the_servers_table() {
        // The API, true if the event has a time, its namespace, its object's namespace, true if it is accepted.
        let table = [
            (NOW, true, "default", "", true),
            (NOW, true, "kube-system", "", true),
            (NOW, true, "other", "", false),
            (NOW, true, "default", "default", true),
            (NOW, true, "other", "default", true),
            (NOW, true, "default", "kube-system", true),
            (CORE, true, "default", "", true),
            (CORE, true, "other", "", false),
            (CORE, true, "other", "default", true),
            (CORE, false, "default", "", true),
            (CORE, false, "kube-system", "", false),
            (CORE, false, "default", "default", true),
            (CORE, false, "other", "default", false),
            (OLD, true, "default", "", false),
            (OLD, true, "kube-system", "", true),
            (OLD, true, "other", "", false),
            (OLD, true, "default", "default", true),
            (OLD, true, "other", "default", true),
            (OLD_CORE, true, "default", "", false),
            (OLD_CORE, false, "default", "", true),
            (OLD_CORE, false, "kube-system", "", false),
            (OLD_CORE, false, "other", "default", false),
        ];
        for (api, timed, own, about, accepted) in table {
            let said = messages(api, &event(timed, own, about));
            let expected =
                if accepted { Vec::new() } else { vec![REFUSAL.replace("ABOUT", about)] };
            assert_eq!(said, expected, "{api:?}, timed {timed}, {own:?} about {about:?}");
        }
    }

    #[test]
    fn a_new_event_keeps_the_limits() {
        let cases = [
            (
                "message",
                json!("x".repeat(1025)),
                "message: Invalid value: \"\": can have at most 1024 characters",
            ),
            (
                "reason",
                json!("x".repeat(129)),
                "reason: Invalid value: \"\": can have at most 128 characters",
            ),
            (
                "action",
                json!("x".repeat(129)),
                "action: Invalid value: \"\": can have at most 128 characters",
            ),
            (
                "reportingInstance",
                json!("x".repeat(129)),
                "reportingInstance: Invalid value: \"\": can have at most 128 characters",
            ),
            ("reportingInstance", json!(""), "reportingInstance: Required value"),
            ("reportingComponent", json!(""), "reportingController: Required value"),
            ("type", json!("Error"), "type: Invalid value: \"\": has invalid value: Error"),
            ("count", json!(1), "count: Invalid value: \"\": needs to be unset"),
            ("source", json!({"component": "c"}), "source: Invalid value: \"\": needs to be unset"),
            (
                "lastTimestamp",
                json!("2026-11-15T08:00:00Z"),
                "lastTimestamp: Invalid value: \"\": needs to be unset",
            ),
            ("eventTime", Value::Null, "eventTime: Required value"),
        ];
        for (member, value, expected) in cases {
            let mut event = event(true, "default", "");
            event[member] = value;
            assert_eq!(messages(NOW, &event), [expected], "{member}");
        }
        let mut event = event(true, "default", "");
        event["reportingComponent"] = json!("not a name");
        assert!(
            messages(NOW, &event)[0]
                .starts_with("reportingController: Invalid value: \"not a name\"")
        );
    }

    #[test]
    fn event_allows_changes_of_series_only() {
        let old = event(true, "default", "");
        let mut counted = old.clone();
        counted["series"] = json!({"count": 2});
        assert!(check(NOW, Some(&old), &counted).is_empty());
        let mut reworded = old.clone();
        reworded["message"] = json!("other");
        assert_eq!(check(NOW, Some(&old), &reworded).len(), 1);
        assert!(
            check(CORE, Some(&old), &reworded).is_empty(),
            "the core API lets everything change"
        );
    }
}
