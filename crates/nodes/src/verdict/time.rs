use jiff::{SignedDuration, Timestamp};

/// Returns whole seconds between two instants.
pub fn seconds(from: Timestamp, to: Timestamp) -> i64 {
    to.as_second().saturating_sub(from.as_second())
}

pub fn after(from: Timestamp, pause: SignedDuration) -> Timestamp {
    from.saturating_add(pause).unwrap_or(Timestamp::MAX)
}
