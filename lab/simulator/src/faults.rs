//! Fault rules: condition × outcome × probability × window.
//!
//! A rule selects calls and the fault of each. The models call [`Faults::next`] once per call; the first rule that
//! applies decides. Everything is drawn from the seed, so the seed and the rules are enough to replay a run.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::exchange::{Response, ServerReply};
use crate::pattern::is_match;
use crate::random::Random;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FaultRule {
    #[serde(default)]
    pub when: CallSelector,
    pub then: Fault,
    /// Probability of a fault on a selected call: 1 always.
    #[serde(default = "always")]
    pub probability: f64,
    /// Seconds after the start at which the rule begins and ends.
    #[serde(default)]
    pub from_seconds: u64,
    /// See `from_seconds`; without it the rule does not end.
    pub until_seconds: Option<u64>,
    #[serde(default)]
    pub skip: u32,
    /// Maximum number of faults.
    pub times: Option<u32>,
}

fn always() -> f64 {
    1.0
}

/// Selection of calls; an absent member matches every call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallSelector {
    pub service: Option<ServiceName>,
    pub method: Option<String>,
    /// Path without its query; `*` matches any characters, ignoring case.
    pub path: Option<String>,
    /// Only calls that change something, or only calls that do not.
    pub writes: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ServiceName {
    Arm,
    SignIn,
    Imds,
    Registry,
    Kubernetes,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Fault {
    /// An error response; the call has no effect.
    Status {
        /// HTTP status: 409, 412, 429, 500, 503 …
        status: u16,
        /// The service's own error code; each service has a default for each status.
        code: Option<String>,
        /// Seconds for a `Retry-After` header.
        retry_after: Option<u64>,
    },
    /// No response, and the call has no effect.
    TimeoutBefore,
    /// No response, but the call took effect.
    TimeoutAfter,
    /// The connection breaks, and the call has no effect.
    DropBefore,
    /// The connection breaks, but the call took effect.
    DropAfter,
    /// The call takes effect; its response ends in the middle of the body.
    Truncate,
    /// A read returns the state of so many seconds ago.
    Stale { seconds: u64 },
    /// A long-running operation of the call gets another result.
    Operation(OperationFault),
    /// The call is accepted, and its resource is then not found.
    NotFoundAfterAccept,
    /// The model's clock jumps by so many seconds, forward or back.
    ClockJump { seconds: i64 },
    /// An open watch ends without an event.
    DropWatch,
    /// A watch event is sent twice.
    DuplicateEvent,
    /// A watch event is sent after the one that follows it.
    ReorderEvent,
    /// The API server restarts: every watch ends, and state that is only in memory is lost.
    Restart,
}

impl Fault {
    /// Delivers the response to a call, with the faults of a connection. Other faults concern the response itself.
    pub(crate) fn deliver(fault: Option<&Self>, answer: impl FnOnce() -> Response) -> ServerReply {
        match fault {
            Some(Self::TimeoutBefore) => ServerReply::Silence,
            Some(Self::DropBefore) => ServerReply::Dropped,
            Some(Self::TimeoutAfter) => {
                answer();
                ServerReply::Silence
            }
            Some(Self::DropAfter) => {
                answer();
                ServerReply::Dropped
            }
            Some(Self::Truncate) => {
                let response = answer();
                let half = response.body().bytes().len() / 2;
                ServerReply::CutShort(response, half)
            }
            _ => ServerReply::Answer(answer()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OperationFault {
    Failed,
    /// Another caller cancels it.
    Canceled,
    /// A later operation replaces it.
    Replaced,
}

/// The members of a call that rules check.
#[derive(Debug, Clone, Copy)]
pub struct MatchedCall<'a> {
    pub service: ServiceName,
    pub method: &'a str,
    pub path: &'a str,
    pub writes: bool,
}

#[derive(Debug, Clone)]
pub struct Faults {
    rules: Vec<(FaultRule, Count)>,
    random: Random,
    start: Timestamp,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    seen: u32,
    injected: u32,
}

impl Faults {
    /// Returns the rules; their windows count from `start`.
    pub fn new(rules: Vec<FaultRule>, random: &Random, start: Timestamp) -> Self {
        let rules = rules.into_iter().map(|rule| (rule, Count::default())).collect();
        Self { rules, random: random.fork("faults"), start }
    }

    /// Draws from this generator from now on.
    pub(crate) fn reseed(&mut self, random: &Random) {
        self.random = random.fork("faults");
    }

    pub fn add(&mut self, rule: FaultRule) {
        self.rules.push((rule, Count::default()));
    }

    pub fn clear(&mut self) {
        self.rules.clear();
    }

    pub fn rules(&self) -> impl Iterator<Item = &FaultRule> {
        self.rules.iter().map(|(rule, _)| rule)
    }

    pub fn injected(&self) -> u32 {
        self.rules.iter().map(|(_, count)| count.injected).sum()
    }

    /// Returns the fault of this call. Called once per call.
    pub fn next(&mut self, call: MatchedCall<'_>, now: Timestamp) -> Option<Fault> {
        self.next_of(call, now, |_| true)
    }

    /// Returns faults of some kinds only, for models that check at several points of one call.
    pub fn next_of(
        &mut self,
        call: MatchedCall<'_>,
        now: Timestamp,
        kinds: impl Fn(&Fault) -> bool,
    ) -> Option<Fault> {
        let age = now.duration_since(self.start);
        let age = Duration::try_from(age).unwrap_or_default();
        for (rule, count) in &mut self.rules {
            if !kinds(&rule.then) || !rule.holds_at(age) || !rule.when.fits(call) {
                continue;
            }
            count.seen += 1;
            if count.seen <= rule.skip || rule.times.is_some_and(|times| count.injected >= times) {
                continue;
            }
            if self.random.random_bool(rule.probability) {
                count.injected += 1;
                return Some(rule.then.clone());
            }
        }
        None
    }
}

impl FaultRule {
    /// Returns a rule that injects this fault on every matching call.
    pub fn new(when: CallSelector, then: Fault) -> Self {
        Self {
            when,
            then,
            probability: 1.0,
            from_seconds: 0,
            until_seconds: None,
            skip: 0,
            times: None,
        }
    }

    fn holds_at(&self, age: Duration) -> bool {
        age >= Duration::from_secs(self.from_seconds)
            && self.until_seconds.is_none_or(|until| age < Duration::from_secs(until))
    }
}

impl CallSelector {
    fn fits(&self, call: MatchedCall<'_>) -> bool {
        self.service.is_none_or(|service| service == call.service)
            && self.method.as_deref().is_none_or(|method| method == call.method)
            && self.writes.is_none_or(|writes| writes == call.writes)
            && self.path.as_deref().is_none_or(|pattern| is_match(pattern, call.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUT: MatchedCall<'_> = MatchedCall {
        service: ServiceName::Arm,
        method: "PUT",
        path: "/subscriptions/s/resourceGroups/g/agentPools/system",
        writes: true,
    };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn rule(path: &str) -> FaultRule {
        let when = CallSelector { path: Some(path.to_owned()), ..CallSelector::default() };
        FaultRule::new(when, Fault::DropAfter)
    }

    fn faults(rule: FaultRule) -> Faults {
        Faults::new(vec![rule], &Random::new(1), at(0))
    }

    #[test]
    fn a_rule_holds_in_its_window_only() {
        let mut faults =
            faults(FaultRule { from_seconds: 10, until_seconds: Some(20), ..rule("*agentPools*") });
        let seen = [0, 9, 10, 19, 20].map(|second| faults.next(PUT, at(second)).is_some());
        assert_eq!(seen, [false, false, true, true, false]);
    }

    #[test]
    fn a_rule_skips_calls_and_ends_after_its_times() {
        let mut faults = faults(FaultRule { skip: 1, times: Some(2), ..rule("*") });
        let seen: Vec<bool> = (0..5).map(|_| faults.next(PUT, at(0)).is_some()).collect();
        assert_eq!(seen, [false, true, true, false, false]);
    }

    #[test]
    fn the_same_seed_gives_the_same_faults() {
        let run = |seed| {
            let rule = FaultRule { probability: 0.3, ..rule("*") };
            let mut faults = Faults::new(vec![rule], &Random::new(seed), at(0));
            (0..64).map(|n| faults.next(PUT, at(n)).is_some()).collect::<Vec<_>>()
        };
        assert_eq!(run(5), run(5));
        assert_ne!(run(5), run(6));
    }

    #[test]
    fn rules_read_as_data() {
        let rule: FaultRule = serde_json::from_value(serde_json::json!({
            "when": {"service": "arm", "method": "PUT"},
            "then": {"status": {"status": 429, "retryAfter": 5}},
            "probability": 0.5,
        }))
        .unwrap();
        assert_eq!(rule.then, Fault::Status { status: 429, code: None, retry_after: Some(5) });
        assert!(serde_json::from_str::<FaultRule>(r#"{"then":"dropAfter","tims":1}"#).is_err());
    }
}
