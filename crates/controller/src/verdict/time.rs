use jiff::Timestamp;

/// Returns whole seconds between two instants.
pub fn seconds(from: Timestamp, to: Timestamp) -> i64 {
    to.as_second().saturating_sub(from.as_second())
}
