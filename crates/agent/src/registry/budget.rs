//! Time limit of the login, and the pauses between attempts.

use std::time::{Duration, SystemTime};

use jiff::fmt::rfc2822;

/// The scripts' own budget, in which the login is one part: `check_cse_timeout` gives up 780 seconds
/// after the start of the CSE.
const CSE: Duration = Duration::from_mins(13);
/// The first pause is at most this long, and each further one at most twice the last.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// With full jitter, 15 seconds on average: some 40 attempts in ten minutes.
const MAX_PAUSE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeBudget {
    pub(crate) total: Duration,
    /// On the clock that never jumps.
    ends: Duration,
}

impl TimeBudget {
    /// Returns the budget that begins at `now` and ends no later than the CSE.
    pub(crate) fn new(now: Duration, asked: Duration, cse_left: Option<Duration>) -> Self {
        let total = cse_left.map_or(asked, |left| left.min(asked));
        Self { total, ends: now + total }
    }

    pub(crate) fn remaining(&self, now: Duration) -> Duration {
        self.ends.saturating_sub(now)
    }
}

/// Returns the remaining time of the CSE, which began at `started` (`CSE_STARTTIME_SECONDS`). A start in
/// the future, after a clock change, counts as now.
pub(crate) fn cse_left(started: &str, now: SystemTime) -> Option<Duration> {
    let started =
        SystemTime::UNIX_EPOCH + Duration::from_secs(started.trim().parse::<u32>().ok()?.into());
    Some(CSE.saturating_sub(now.duration_since(started).unwrap_or_default()))
}

/// Returns the pause after the attempt of this number (from 1): random up to a ceiling that doubles, but at least
/// `Retry-After`. `None` if no time would remain. `random` is uniformly distributed.
pub(super) fn pause(
    attempt: u32,
    random: u32,
    asked: Option<Duration>,
    left: Duration,
) -> Option<Duration> {
    let doubled = FIRST_PAUSE.saturating_mul(1 << attempt.saturating_sub(1).min(10));
    let ceiling = doubled.min(MAX_PAUSE);
    let pause = ceiling.mul_f64(f64::from(random) / f64::from(u32::MAX));
    let pause = pause.max(asked.unwrap_or_default());
    (pause < left).then_some(pause)
}

/// Parses `Retry-After`: seconds, or a date.
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let date = SystemTime::from(rfc2822::parse(value).ok()?.timestamp());
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn pauses_double_up_to_a_ceiling_and_are_spread_evenly_below_it() {
        let longest = |attempt| pause(attempt, u32::MAX, None, HOUR).unwrap().as_secs();
        let ceilings: Vec<_> = (1..9).map(longest).collect();
        assert_eq!(ceilings, [1, 2, 4, 8, 16, 30, 30, 30]);
        assert_eq!(longest(u32::MAX), 30);
        assert_eq!(pause(5, 0, None, HOUR), Some(Duration::ZERO), "full jitter begins at nothing");
        let half = pause(5, u32::MAX / 2, None, HOUR).unwrap();
        assert!(half > seconds(7) && half <= seconds(8), "{half:?}");
    }

    #[test]
    fn retry_after_applies_within_the_budget() {
        let asked = |wanted, left| pause(1, 0, Some(seconds(wanted)), seconds(left));
        assert_eq!(asked(20, 60), Some(seconds(20)));
        assert_eq!(asked(60, 60), None);
        assert_eq!(asked(3600, 60), None);
        assert_eq!(pause(1, u32::MAX, Some(Duration::ZERO), HOUR), Some(seconds(1)));
        assert_eq!(pause(3, u32::MAX, None, seconds(4)), None, "nor is a pause of our own");
    }

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date() {
        let now = SystemTime::UNIX_EPOCH + seconds(784_111_767);
        assert_eq!(retry_after("120", now), Some(seconds(120)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), Some(seconds(10)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:00:00 GMT", now), Some(Duration::ZERO));
        for nonsense in ["", "-5", "soon", "1e9", "99999999999"] {
            assert_eq!(retry_after(nonsense, now), None, "{nonsense}");
        }
    }

    #[test]
    fn the_budget_of_the_cse_is_the_limit() {
        let now = SystemTime::UNIX_EPOCH + seconds(1_000_000);
        assert_eq!(cse_left("999900", now), Some(seconds(680)));
        assert_eq!(cse_left(" 999220\n", now), Some(Duration::ZERO));
        assert_eq!(cse_left("5", now), Some(Duration::ZERO));
        assert_eq!(cse_left("1000500", now), Some(seconds(780)), "a clock that was set back");
        for nonsense in ["", "now", "-1", "1.5"] {
            assert_eq!(cse_left(nonsense, now), None, "{nonsense}");
        }
        let budget = TimeBudget::new(seconds(7), seconds(600), Some(seconds(80)));
        assert_eq!(budget.total, seconds(80));
        assert_eq!(budget.remaining(seconds(17)), seconds(70));
        assert_eq!(budget.remaining(seconds(100)), Duration::ZERO);
        assert_eq!(TimeBudget::new(seconds(7), seconds(600), None).total, seconds(600));
    }
}
