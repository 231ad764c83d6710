//! Retries of effects.

use jiff::{SignedDuration, Timestamp};

use crate::journal::Attempt;
use crate::model::effect::{EffectResult, Refusal};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts after which only a new session retries.
    pub max_attempts: u32,
    pub max_pause: SignedDuration,
    /// The minimum pause; it doubles with every attempt.
    pub poll: SignedDuration,
    /// Attempts without a pause where another read decides.
    pub immediate: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    Now,
    At(Timestamp),
    /// The service refused it permanently.
    Refused,
    Exhausted,
}

impl RetryPolicy {
    /// Decides by the last attempt and its refusal; `asked_again` means that an operator requested another one after it.
    pub fn decide<E>(
        &self,
        attempt: Option<&Attempt<E>>,
        refusal: Option<Refusal>,
        asked_again: bool,
        now: Timestamp,
    ) -> Retry {
        let Some(attempt) = attempt else { return Retry::Now };
        if !asked_again && refusal == Some(Refusal::Final) {
            return Retry::Refused;
        }
        if !asked_again && attempt.count >= self.max_attempts {
            return Retry::Exhausted;
        }
        let ready = attempt.at.checked_add(self.pause(attempt, refusal)).unwrap_or(Timestamp::MAX);
        // An attempt in the future was recorded by a clock that was ahead.
        if ready > now && attempt.at <= now { Retry::At(ready) } else { Retry::Now }
    }

    fn pause<E>(&self, attempt: &Attempt<E>, refusal: Option<Refusal>) -> SignedDuration {
        match &attempt.result {
            // Not below the poll interval, or all attempts would be used up at once.
            Some(EffectResult::Refused { retry_after: Some(pause), .. }) => (*pause).max(self.poll),
            // The process died before the result was written: a read has shown that it was not done.
            None => SignedDuration::ZERO,
            Some(result) => {
                let lost = matches!(result, EffectResult::Unknown { .. });
                if (lost || refusal == Some(Refusal::ReadAgain)) && attempt.count < self.immediate {
                    return SignedDuration::ZERO;
                }
                let doubled = self.poll.checked_mul(1 << attempt.count.min(5));
                doubled.unwrap_or(self.max_pause).min(self.max_pause)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy = RetryPolicy {
        max_attempts: 4,
        max_pause: SignedDuration::from_secs(20),
        poll: SignedDuration::from_secs(3),
        immediate: 2,
    };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_000 + second).unwrap()
    }

    fn decide(attempt: &Attempt<()>, asked_again: bool, now: Timestamp) -> Retry {
        let refusal = attempt.result.as_ref().and_then(EffectResult::refusal);
        POLICY.decide(Some(attempt), refusal, asked_again, now)
    }

    fn attempt(count: u32, result: impl Into<Option<EffectResult>>) -> Attempt<()> {
        let result = result.into();
        let (effect, token, landed) = ((), None, false);
        Attempt { effect, count, first: at(0), at: at(0), seq: 1, result, token, landed }
    }

    fn refused(status: u16, retry_after: Option<i64>) -> EffectResult {
        let retry_after = retry_after.map(SignedDuration::from_secs);
        let (code, message) = (String::new(), String::new());
        EffectResult::Refused { status, code, message, retry_after }
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let after = |count| decide(&attempt(count, refused(503, None)), false, at(0));
        assert_eq!([1, 2, 3].map(after), [Retry::At(at(6)), Retry::At(at(12)), Retry::At(at(20))]);
        let ready = attempt(1, refused(503, None));
        assert_eq!(decide(&ready, false, at(5)), Retry::At(at(6)));
        assert_eq!(decide(&ready, false, at(6)), Retry::Now);
    }

    #[test]
    fn the_service_sets_the_pause_but_never_below_the_poll_interval() {
        let after = |pause| decide(&attempt(1, refused(429, Some(pause))), false, at(0));
        assert_eq!([0, 9].map(after), [Retry::At(at(3)), Retry::At(at(9))]);
    }

    #[test]
    fn an_operator_lifts_refusals_and_exhaustion() {
        let later = at(60);
        for (tried, want) in [
            (attempt(1, refused(403, None)), Retry::Refused),
            (attempt(4, refused(503, None)), Retry::Exhausted),
        ] {
            assert_eq!(decide(&tried, false, later), want);
            assert_eq!(decide(&tried, true, later), Retry::Now);
        }
        assert_eq!(decide(&attempt(3, refused(503, None)), false, later), Retry::Now);
        assert_eq!(POLICY.decide::<()>(None, None, false, later), Retry::Now);
    }

    #[test]
    fn effects_that_a_read_decides_are_retried_without_a_pause() {
        let lost = || EffectResult::Unknown { why: String::new() };
        for result in [lost(), refused(409, None)] {
            let first = decide(&attempt(1, result.clone()), false, at(0));
            let second = decide(&attempt(2, result), false, at(0));
            assert_eq!((first, second), (Retry::Now, Retry::At(at(12))));
        }
        assert_eq!(decide(&attempt(3, None), false, at(0)), Retry::Now);
    }

    #[test]
    fn attempt_in_the_future_does_not_hold_up() {
        let tried = attempt(1, refused(503, None));
        assert_eq!(decide(&tried, false, at(-1)), Retry::Now);
    }
}
