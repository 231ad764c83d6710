//! The half hour of a time.

use jiff::Timestamp;

pub(super) const HALF_HOUR_SECONDS: i64 = 30 * 60;

/// Returns the start of the half hour of a time. Counts have no finer times.
pub fn half_hour_start(at: Timestamp) -> Timestamp {
    HalfHour::of(at).start()
}

/// A half hour, counted from the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HalfHour(pub(super) i64);

impl HalfHour {
    pub(super) fn of(at: Timestamp) -> Self {
        Self(at.as_second().div_euclid(HALF_HOUR_SECONDS))
    }

    pub(super) fn start(self) -> Timestamp {
        Timestamp::from_second(self.0.saturating_mul(HALF_HOUR_SECONDS)).unwrap_or(Timestamp::MIN)
    }

    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}
