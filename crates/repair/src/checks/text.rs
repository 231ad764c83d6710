//! Readings and times in the evidence of checks.

use jiff::Timestamp;
use mooring_workflow::Reading;

use crate::observation::{ClusterView, Pool};

pub(super) fn target<'a>(view: &'a ClusterView, name: &str) -> Result<Option<&'a Pool>, String> {
    known(view.pools.as_ref()).map(|pools| pools.iter().find(|pool| pool.name == name))
}

pub(super) fn known<T>(reading: Option<&Reading<T>>) -> Result<&T, String> {
    let reading = reading.ok_or_else(|| "were not read".to_owned())?;
    reading.known().ok_or_else(|| reading.missing().unwrap_or_default())
}

pub(super) fn ago(at: Timestamp, now: Timestamp) -> String {
    match now.duration_since(at).as_mins() {
        ..1 => "just now".to_owned(),
        minutes @ 1..120 => format!("{minutes}m ago"),
        minutes => format!("{}h ago", minutes / 60),
    }
}

pub(super) fn latest_suffix(at: Option<Timestamp>, now: Timestamp) -> String {
    at.map_or_else(String::new, |at| format!(", latest {}", ago(at, now)))
}
