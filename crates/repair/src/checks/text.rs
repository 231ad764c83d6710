//! Readings and times in the evidence of checks.

use jiff::Timestamp;
use mooring_workflow::Reading;
use mooring_workflow::screens::ago;

use crate::observation::{ClusterView, Pool};

pub(super) fn target<'a>(view: &'a ClusterView, name: &str) -> Result<Option<&'a Pool>, String> {
    known(view.pools.get()).map(|pools| pools.iter().find(|pool| pool.name == name))
}

pub(super) fn known<T>(reading: Option<&Reading<T>>) -> Result<&T, String> {
    let reading = reading.ok_or_else(|| "were not read".to_owned())?;
    reading.known().ok_or_else(|| reading.missing().unwrap_or_default())
}

pub(super) fn latest_suffix(at: Option<Timestamp>, now: Timestamp) -> String {
    at.map_or_else(String::new, |at| format!(", latest {}", ago(at, now)))
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn times_are_minutes_and_then_hours() {
        let now: Timestamp = "2026-11-17T09:14:00Z".parse().unwrap();
        let suffix = |seconds| latest_suffix(Some(now - SignedDuration::from_secs(seconds)), now);
        assert_eq!(latest_suffix(None, now), "");
        assert_eq!(suffix(59), ", latest just now");
        assert_eq!(suffix(60), ", latest 1m ago");
        assert_eq!(suffix(119 * 60), ", latest 119m ago");
        assert_eq!(suffix(120 * 60), ", latest 2h ago");
    }
}
