//! The columns of the built-in resources that clients list; ages.

use jiff::Timestamp;
use serde_json::Value;

use crate::kubernetes::api::state::Resource;
use crate::kubernetes::store::objects::{self, at, flag, list, number, text, time_at};

/// The cell of one object, with the head of its column.
pub(super) struct Cell {
    pub(super) column: &'static str,
    pub(super) priority: i64,
    pub(super) value: Value,
}

impl Cell {
    fn text(column: &'static str, value: impl Into<Value>) -> Self {
        Self { column, priority: 0, value: value.into() }
    }

    /// Returns a cell that is shown only by `-o wide`.
    fn wide(column: &'static str, value: impl Into<Value>) -> Self {
        Self { priority: 1, ..Self::text(column, value) }
    }
}

/// Returns the cells after the name; those of null have the heads of all columns.
pub(super) fn cells(resource: &Resource, value: &Value, now: Timestamp) -> Vec<Cell> {
    let created = time_at(value, &["metadata", "creationTimestamp"]);
    let old = Cell::text("Age", created.map_or("<unknown>".to_owned(), |then| age(then, now)));
    let or = |path: &[&str], other: &str| match at(value, path) {
        Some(Value::String(text)) if !text.is_empty() => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => other.to_owned(),
    };
    match resource.qualified().as_str() {
        "pods" => {
            let all = list(value, &["spec", "containers"]).len();
            let containers = list(value, &["status", "containerStatuses"]);
            let up = containers.iter().filter(|one| flag(one, &["ready"])).count();
            let restarts: i64 =
                containers.iter().filter_map(|one| number(one, &["restartCount"])).sum();
            let status = if objects::is_being_deleted(value) {
                "Terminating".to_owned()
            } else {
                or(&["status", "phase"], "Unknown")
            };
            vec![
                Cell::text("Ready", format!("{up}/{all}")),
                Cell::text("Status", status),
                Cell::text("Restarts", restarts.to_string()),
                old,
                Cell::wide("IP", or(&["status", "podIP"], "<none>")),
                Cell::wide("Node", or(&["spec", "nodeName"], "<none>")),
            ]
        }
        "nodes" => {
            let mut status = match objects::condition(value, "Ready") {
                Some("True") => "Ready".to_owned(),
                Some(_) => "NotReady".to_owned(),
                None => "Unknown".to_owned(),
            };
            if flag(value, &["spec", "unschedulable"]) {
                status.push_str(",SchedulingDisabled");
            }
            let roles: Vec<&str> = objects::labels(value)
                .filter_map(|(name, _)| name.strip_prefix("node-role.kubernetes.io/"))
                .collect();
            let roles = if roles.is_empty() { "<none>".to_owned() } else { roles.join(",") };
            vec![
                Cell::text("Status", status),
                Cell::text("Roles", roles),
                old,
                Cell::text("Version", or(&["status", "nodeInfo", "kubeletVersion"], "")),
            ]
        }
        "namespaces" => vec![Cell::text("Status", or(&["status", "phase"], "")), old],
        "events" | "events.events.k8s.io" => event(value, now),
        _ => vec![old],
    }
}

fn event(value: &Value, now: Timestamp) -> Vec<Cell> {
    let about = if value.get("regarding").is_some() { "regarding" } else { "involvedObject" };
    let message = if value.get("note").is_some() { "note" } else { "message" };
    let seen = [
        &["series", "lastObservedTime"][..],
        &["lastTimestamp"],
        &["deprecatedLastTimestamp"],
        &["eventTime"],
        &["metadata", "creationTimestamp"],
    ]
    .iter()
    .find_map(|path| time_at(value, path));
    let object = format!(
        "{}/{}",
        text(value, &[about, "kind"]).to_ascii_lowercase(),
        text(value, &[about, "name"])
    );
    vec![
        Cell::text("Last Seen", seen.map_or("<unknown>".to_owned(), |then| age(then, now))),
        Cell::text("Type", text(value, &["type"])),
        Cell::text("Reason", text(value, &["reason"])),
        Cell::text("Object", object),
        Cell::text("Message", text(value, &[message]).trim()),
    ]
}

/// Formats the time since `then` as kubectl does.
pub(super) fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(then).as_secs();
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    let seconds = seconds.max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let two = |whole: i64, unit: &str, rest: i64, small: &str| {
        if rest == 0 { format!("{whole}{unit}") } else { format!("{whole}{unit}{rest}{small}") }
    };
    if seconds < 120 {
        format!("{seconds}s")
    } else if minutes < 10 {
        two(minutes, "m", seconds % 60, "s")
    } else if minutes < 180 {
        format!("{minutes}m")
    } else if hours < 8 {
        two(hours, "h", minutes % 60, "m")
    } else if hours < 48 {
        format!("{hours}h")
    } else if hours < 192 {
        two(days, "d", hours % 24, "h")
    } else if days < 730 {
        format!("{days}d")
    } else if days < 2920 {
        two(days / 365, "y", days % 365, "d")
    } else {
        format!("{}y", days / 365)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        for (seconds, text) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (150, "2m30s"),
            (3600, "60m"),
            (4 * 3600 + 60, "4h1m"),
            (86_400, "24h"),
            (3 * 86_400, "3d"),
            (400 * 86_400, "400d"),
        ] {
            let now = Timestamp::from_second(seconds).unwrap();
            assert_eq!(age(Timestamp::UNIX_EPOCH, now), text);
        }
    }
}
