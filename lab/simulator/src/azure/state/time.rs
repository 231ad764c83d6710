//! Times before and after another, and their format in Azure.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// Returns `now` plus a duration, at most the end of time.
pub(crate) fn later(now: Timestamp, by: Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    now.saturating_add(by).unwrap_or(Timestamp::MAX)
}

pub(crate) fn earlier(now: Timestamp, seconds: i64) -> Timestamp {
    now.saturating_sub(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MIN)
}

/// Formats a time as Azure does, with seven fractional digits.
pub(crate) fn stamp(time: Timestamp) -> String {
    format!("{time:.7}")
}
