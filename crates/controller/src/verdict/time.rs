//! Time between two instants.

use jiff::Timestamp;

/// Whole seconds from one instant to another.
pub fn seconds(from: Timestamp, to: Timestamp) -> i64 {
    to.as_second().saturating_sub(from.as_second())
}
