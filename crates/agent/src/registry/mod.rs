//! `registry-login`: logs this node in to its bootstrap registry, or reports the cause of the failure.
//!
//! Replaces the image's shell function `oras_login_with_kubelet_identity`, but keeps causes apart: a
//! missing binary is not a network failure, and a denied request is not a timeout.
//!
//! | file | contents | I/O |
//! |---|---|---|
//! | here | attempts, their log, pauses between them, one time limit | yes |
//! | `steps` | the steps, as executed and logged | through the session |
//! | `error` | errors and their exit codes | |
//! | `responses` | bodies, tokens and forms | |

mod error;
mod responses;
mod steps;

pub(crate) use steps::login;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use jiff::fmt::rfc2822;
use mooring_redact::{Redactor, Secret};

use crate::cli::LoginFlags;
use crate::node::agent::Agent;
use crate::node::agent::LogValue::{Null, Number, Text};
use crate::node::inputs::{self, TimeBudget};
use crate::node::trust::Proxies;
use crate::registry::error::{Code, LoginError, RegistryErrorKind, RegistryStop, Retry, Service};
use crate::world::{HttpFailureKind, HttpRequest, HttpResponse, Roots, Url};

struct RegistrySession<'s, 'w> {
    agent: &'s mut Agent<'w>,
    flags: &'s LoginFlags,
    step: &'static str,
    roots: Roots,
    oras: PathBuf,
    access_token: Secret,
    refresh_token: Secret,
    proxies: Proxies,
    budget: TimeBudget,
    secrets: Vec<Vec<u8>>,
}

enum StepResult {
    /// With the next step; what this one found.
    Next(&'static str),
    /// With nothing: the rest is not needed, and why.
    Done(&'static str),
}

struct Question<'q> {
    party: Service,
    url: &'q Url,
    headers: &'q [(&'static str, Secret)],
    form: Option<&'q Secret>,
}

impl<'s, 'w> RegistrySession<'s, 'w> {
    fn new(agent: &'s mut Agent<'w>, flags: &'s LoginFlags) -> Self {
        let variables = agent.world.environment();
        let proxies = Proxies::from_environment(&variables);
        let mut secrets = inputs::values_of_node(agent.world, &agent.layout, None, None);
        secrets.extend(proxies.secrets());
        agent.redactor = Redactor::new(&secrets);
        let budget = TimeBudget::begin(agent, flags.budget);
        Self {
            agent,
            flags,
            step: "",
            roots: Roots::none(),
            oras: PathBuf::new(),
            access_token: Secret::default(),
            refresh_token: Secret::default(),
            proxies,
            budget,
            secrets,
        }
    }

    /// Masks this token in all output.
    fn keep_secret(&mut self, token: &Secret) {
        self.secrets.push(token.expose().as_bytes().to_vec());
        self.agent.redactor = Redactor::new(&self.secrets);
    }

    /// Milliseconds since an instant of the clock that never jumps.
    fn since(&mut self, began: Duration) -> i64 {
        let took = self.agent.world.monotonic().saturating_sub(began);
        i64::try_from(took.as_millis()).unwrap_or(i64::MAX)
    }

    /// Repeats a request until `read` accepts the response, the error is permanent, or the time limit is reached. The query
    /// is not logged.
    fn ask<T>(
        &mut self,
        question: &Question<'_>,
        read: impl Fn(&HttpResponse) -> Result<T, LoginError>,
    ) -> Result<T, RegistryStop> {
        self.retry(question.party, &question.url.to_string(), |session, limit| {
            let is_registry = question.party == Service::Registry;
            let request = HttpRequest {
                url: question.url,
                headers: question.headers,
                form: question.form,
                // IMDS is link-local: it is never reached through a proxy.
                proxy: session.proxies.of(question.url).filter(|_| is_registry),
                roots: &session.roots,
                limit,
            };
            match session.agent.world.fetch(&request) {
                Err(failure) => (None, Err(LoginError::of_failure(&failure))),
                Ok(response) => {
                    let now = session.agent.world.now();
                    let asked = response.header("retry-after");
                    let pause = asked.and_then(|asked| retry_after(asked, now));
                    let result = read(&response).map_err(|error| LoginError { pause, ..error });
                    (Some(response.status), result)
                }
            }
        })
    }

    /// Makes attempts; each is a line in the log.
    fn retry<T>(
        &mut self,
        party: Service,
        endpoint: &str,
        mut attempt: impl FnMut(&mut Self, Duration) -> (Option<u16>, Result<T, LoginError>),
    ) -> Result<T, RegistryStop> {
        let first = self.agent.world.monotonic();
        let mut last: Option<LoginError> = None;
        for number in 1.. {
            let began = self.agent.world.monotonic();
            let left = self.budget.remaining(began);
            if left.is_zero() {
                // Before the first attempt, or after a pause that ended late.
                let Some(last) = last else { break };
                let why = self.out_of_time(number - 1, first);
                return Err(stop(party, endpoint, &last, Some(why)));
            }
            let limit = left.min(self.flags.attempt_timeout);
            let (status, result) = attempt(self, limit);
            let took = self.since(began);
            self.log_attempt(number, endpoint, status, took, result.as_ref().err());
            let trouble = match result {
                Ok(value) => return Ok(value),
                // An attempt that the time limit cut short is not a failure of the service.
                Err(cut)
                    if cut.kind == RegistryErrorKind::Http(HttpFailureKind::TimedOut)
                        && limit < self.flags.attempt_timeout =>
                {
                    last.unwrap_or(cut)
                }
                Err(trouble) => trouble,
            };
            let is_enough = match trouble.again {
                Retry::No => true,
                Retry::Attempts(most) => number >= most,
                Retry::WhileTimeLasts => false,
            };
            let random = self.random();
            let left = self.budget.remaining(self.agent.world.monotonic());
            let pause = pause_after(number, random, trouble.pause, left);
            let Some(pause) = pause.filter(|_| !is_enough) else {
                let why = if is_enough { None } else { Some(self.out_of_time(number, first)) };
                return Err(stop(party, endpoint, &trouble, why));
            };
            self.agent.world.sleep(pause);
            last = Some(trouble);
        }
        let text = format!("{endpoint} was not asked: nothing is left of {:?}", self.budget.total);
        Err(RegistryStop::new(Code::TIME_UP, text))
    }

    fn out_of_time(&mut self, attempts: u32, first: Duration) -> String {
        let seconds = Duration::from_millis(self.since(first).unsigned_abs()).as_secs_f64();
        let total = self.budget.total.as_secs_f64();
        let s = if attempts == 1 { "" } else { "s" };
        format!("; gave up after {attempts} attempt{s} in {seconds:.1} s of {total:.0} s")
    }

    /// Returns a uniformly distributed number; the middle if the system has no randomness.
    fn random(&mut self) -> u32 {
        let mut bytes = [0; 4];
        match self.agent.world.random(&mut bytes) {
            Ok(()) => u32::from_ne_bytes(bytes),
            Err(_) => u32::MAX / 2,
        }
    }

    fn log_attempt(
        &mut self,
        number: u32,
        endpoint: &str,
        status: Option<u16>,
        took: i64,
        trouble: Option<&LoginError>,
    ) {
        let status = status.map_or(Null, |status| Number(status.into()));
        let mut attributes = vec![
            ("step", Text(self.step)),
            ("endpoint", Text(endpoint)),
            ("attempt", Number(number.into())),
            ("status", status),
            ("durationMs", Number(took)),
        ];
        match trouble {
            None => self.agent.info("registry-login attempt", &attributes),
            Some(trouble) => {
                attributes.push(("kind", Text(trouble.kind.word())));
                attributes.push(("error", Text(&trouble.text)));
                self.agent.warn("registry-login attempt", &attributes);
            }
        }
    }
}

fn stop(party: Service, endpoint: &str, trouble: &LoginError, why: Option<String>) -> RegistryStop {
    let text = format!("{endpoint}: {}{}", trouble.text, why.unwrap_or_default());
    RegistryStop { hint: Some(trouble.hint(party)), ..RegistryStop::new(trouble.code(party), text) }
}

/// The first pause is at most this long, and each further one at most twice the last.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// With full jitter, 15 seconds on average: some 40 attempts in ten minutes.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Returns the pause after the attempt of this number (from 1): random up to a ceiling that doubles, but at least
/// `Retry-After`. `None` if no time would remain. `random` is uniformly distributed.
fn pause_after(
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
fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
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
        let longest = |attempt| pause_after(attempt, u32::MAX, None, HOUR).unwrap().as_secs();
        let ceilings: Vec<_> = (1..9).map(longest).collect();
        assert_eq!(ceilings, [1, 2, 4, 8, 16, 30, 30, 30]);
        assert_eq!(longest(u32::MAX), 30);
        assert_eq!(
            pause_after(5, 0, None, HOUR),
            Some(Duration::ZERO),
            "full jitter begins at nothing"
        );
        let half = pause_after(5, u32::MAX / 2, None, HOUR).unwrap();
        assert!(half > seconds(7) && half <= seconds(8), "{half:?}");
    }

    #[test]
    fn retry_after_applies_within_the_budget() {
        let asked = |wanted, left| pause_after(1, 0, Some(seconds(wanted)), seconds(left));
        assert_eq!(asked(20, 60), Some(seconds(20)));
        assert_eq!(asked(60, 60), None);
        assert_eq!(asked(3600, 60), None);
        assert_eq!(pause_after(1, u32::MAX, Some(Duration::ZERO), HOUR), Some(seconds(1)));
        assert_eq!(pause_after(3, u32::MAX, None, seconds(4)), None, "nor is a pause of our own");
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
}
