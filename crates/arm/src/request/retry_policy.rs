//! Decides which requests are retried, and when.

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use jiff::Timestamp;

use crate::request_class::Class;
use crate::world::Sent;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttemptResult {
    Status(StatusCode),
    NoResponse(Sent),
}

impl AttemptResult {
    /// Returns true if the write may have been applied: no response, or one from an intermediary that cannot know.
    pub(crate) fn may_be_applied(self, class: Class) -> bool {
        class != Class::Read
            && match self {
                Self::NoResponse(sent) => sent == Sent::Unknown,
                Self::Status(status) => {
                    status == StatusCode::REQUEST_TIMEOUT || status.is_server_error()
                }
            }
    }

    pub(crate) fn is_retryable(self, class: Class) -> bool {
        let passing = match self {
            Self::NoResponse(_) => true,
            Self::Status(status) => matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504),
        };
        passing && (class != Class::Once || !self.may_be_applied(class))
    }
}

const MIN_PAUSE: Duration = Duration::from_millis(800);
const MAX_PAUSE: Duration = Duration::from_mins(1);
/// Requests per call, including the first.
pub(crate) const MAX_ATTEMPTS: u32 = 5;

/// Returns the pause before attempt `next` (2 is the first retry): `Retry-After` if Azure sent it, otherwise a
/// random time up to a limit that doubles ("full jitter"), so that clients that failed together spread out.
pub(crate) fn pause(next: u32, retry_after: Option<Duration>, random: u64) -> Duration {
    if let Some(pause) = retry_after {
        return pause;
    }
    let limit = MIN_PAUSE.saturating_mul(1 << next.saturating_sub(2).min(10)).min(MAX_PAUSE);
    let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(random % (millis + 1))
}

/// Reads `retry-after-ms`, `x-ms-retry-after-ms`, or `retry-after` in seconds or as a date.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    for name in ["retry-after-ms", "x-ms-retry-after-ms"] {
        if let Some(millis) = text(name).and_then(|value| value.parse().ok()) {
            return Some(Duration::from_millis(millis));
        }
    }
    let value = text("retry-after")?;
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let then = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    // A date in the past means immediately.
    Some(Duration::try_from(then.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod retry_policy_tests {
    use super::*;

    #[test]
    fn unsafe_requests_are_not_retried() {
        use Class::{Idempotent, Once, Read};
        let status = |code| AttemptResult::Status(StatusCode::from_u16(code).unwrap());
        let (unsent, unknown) =
            (AttemptResult::NoResponse(Sent::No), AttemptResult::NoResponse(Sent::Unknown));
        // (attempt, retried as read, idempotent, once; a write may have been applied)
        for (attempt, read, idempotent, once, may) in [
            (unsent, true, true, true, false),
            (unknown, true, true, false, true),
            (status(408), true, true, false, true),
            (status(429), true, true, true, false),
            (status(500), true, true, false, true),
            (status(502), true, true, false, true),
            (status(503), true, true, false, true),
            (status(504), true, true, false, true),
            (status(501), false, false, false, true),
            (status(400), false, false, false, false),
            (status(401), false, false, false, false),
            (status(403), false, false, false, false),
            (status(404), false, false, false, false),
            (status(409), false, false, false, false),
            (status(412), false, false, false, false),
        ] {
            assert_eq!(attempt.is_retryable(Read), read, "{attempt:?}");
            assert_eq!(attempt.is_retryable(Idempotent), idempotent, "{attempt:?}");
            assert_eq!(attempt.is_retryable(Once), once, "{attempt:?}");
            assert_eq!(attempt.may_be_applied(Once), may, "{attempt:?}");
            assert!(!attempt.may_be_applied(Read), "{attempt:?}");
        }
    }

    #[test]
    fn retry_after_takes_precedence_and_jitter_is_bounded() {
        assert_eq!(pause(2, Some(Duration::from_secs(17)), 5), Duration::from_secs(17));
        for (next, limit) in [(2, 800), (3, 1600), (4, 3200), (5, 6400), (40, 60_000)] {
            assert_eq!(pause(next, None, u64::MAX).as_millis(), u128::from(u64::MAX % (limit + 1)));
            assert_eq!(pause(next, None, limit), Duration::from_millis(limit));
            assert_eq!(pause(next, None, limit + 1), Duration::ZERO);
        }
    }
}

#[cfg(test)]
mod retry_after_tests {
    use super::*;

    #[test]
    fn all_forms_are_parsed() {
        let now: Timestamp = "2026-11-15T05:00:00Z".parse().unwrap();
        for (headers, expected) in [
            (vec![("retry-after", "17")], Some(17_000)),
            (vec![("retry-after", " 0 ")], Some(0)),
            (vec![("retry-after", "Sun, 15 Nov 2026 05:00:09 GMT")], Some(9_000)),
            (vec![("retry-after", "Sun, 15 Nov 2026 04:59:09 GMT")], Some(0)),
            (vec![("retry-after", "17"), ("retry-after-ms", "250")], Some(250)),
            (vec![("x-ms-retry-after-ms", "1250")], Some(1_250)),
            (vec![("retry-after-ms", "soon"), ("retry-after", "3")], Some(3_000)),
            (vec![("retry-after", "soon")], None),
            (vec![("retry-after", "-1")], None),
            (vec![], None),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in &headers {
                map.insert(*name, value.parse().unwrap());
            }
            assert_eq!(retry_after(&map, now), expected.map(Duration::from_millis), "{headers:?}");
        }
    }
}
