//! What may be repeated: a pure decision.

use std::time::Duration;

use http::StatusCode;

use crate::world::Sent;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Changes nothing. Some POSTs are reads: credentials, Resource Graph.
    Read,
    /// Changes the same thing to the same state each time: PUT, DELETE, a merging PATCH.
    Idempotent,
    /// Does something each time: abort, run command.
    Once,
}

impl Class {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Idempotent => "idempotent",
            Self::Once => "once",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// A status that is not success.
    Status(StatusCode),
    NoAnswer(Sent),
}

impl Attempt {
    /// True if the write may have been carried out: there was no answer, or the answer came from someone on
    /// the way who cannot know.
    pub(crate) fn may_have_worked(self, class: Class) -> bool {
        class != Class::Read
            && match self {
                Self::NoAnswer(sent) => sent == Sent::Unknown,
                Self::Status(status) => {
                    status == StatusCode::REQUEST_TIMEOUT || status.is_server_error()
                }
            }
    }

    /// True if the same request should be sent again.
    pub(crate) fn is_worth_repeating(self, class: Class) -> bool {
        let passing = match self {
            Self::NoAnswer(_) => true,
            Self::Status(status) => matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504),
        };
        passing && (class != Class::Once || !self.may_have_worked(class))
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(800);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// Requests of one call, the first one included.
pub(crate) const MAX_ATTEMPTS: u32 = 5;

/// How long to wait before attempt `next` (2 is the first repetition). What Azure says wins. Otherwise any
/// time up to a limit that doubles ("full jitter"), so that many who failed together do not come back together.
pub(crate) fn pause(next: u32, told: Option<Duration>, random: u64) -> Duration {
    if let Some(told) = told {
        return told;
    }
    let limit = FIRST_PAUSE.saturating_mul(1 << next.saturating_sub(2).min(10)).min(LONGEST_PAUSE);
    let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(random % (millis + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cannot_do_harm_is_repeated() {
        use Class::{Idempotent, Once, Read};
        let status = |code| Attempt::Status(StatusCode::from_u16(code).unwrap());
        let (unsent, unknown) = (Attempt::NoAnswer(Sent::No), Attempt::NoAnswer(Sent::Unknown));
        // (attempt, repeated as read, idempotent, once; a write may have worked)
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
            assert_eq!(attempt.is_worth_repeating(Read), read, "{attempt:?}");
            assert_eq!(attempt.is_worth_repeating(Idempotent), idempotent, "{attempt:?}");
            assert_eq!(attempt.is_worth_repeating(Once), once, "{attempt:?}");
            assert_eq!(attempt.may_have_worked(Once), may, "{attempt:?}");
            assert!(!attempt.may_have_worked(Read), "{attempt:?}");
        }
    }

    #[test]
    fn what_azure_says_wins_and_chance_is_bounded() {
        assert_eq!(pause(2, Some(Duration::from_secs(17)), 5), Duration::from_secs(17));
        for (next, limit) in [(2, 800), (3, 1600), (4, 3200), (5, 6400), (40, 60_000)] {
            assert_eq!(pause(next, None, u64::MAX).as_millis(), u128::from(u64::MAX % (limit + 1)));
            assert_eq!(pause(next, None, limit), Duration::from_millis(limit));
            assert_eq!(pause(next, None, limit + 1), Duration::ZERO);
        }
    }
}
