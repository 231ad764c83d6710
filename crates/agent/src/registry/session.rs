//! State and result of the steps; attempts, their log and retries.

use std::path::PathBuf;
use std::time::Duration;

use mooring_redact::{Redactor, Secret};

use super::budget::{self, TimeBudget};
use super::error::{Code, LoginError, RegistryErrorKind, RegistryStop, Retry, Service};
use super::flags::LoginFlags;
use super::proxy::Proxies;
use crate::node::agent::Agent;
use crate::node::log::LogValue::{Null, Number, Text};
use crate::node::secrets;
use crate::world::{HttpRequest, HttpResponse, Roots, Url};

/// Start of the CSE in seconds since 1970; exported by the scripts.
const CSE_START: &str = "CSE_STARTTIME_SECONDS";

pub(super) struct RegistrySession<'s, 'w> {
    pub(super) agent: &'s mut Agent<'w>,
    pub(super) flags: &'s LoginFlags,
    pub(super) find_oras: &'s FindOras,
    pub(super) step: &'static str,
    pub(super) roots: Roots,
    pub(super) oras: PathBuf,
    pub(super) access_token: Secret,
    pub(super) refresh_token: Secret,
    proxies: Proxies,
    budget: TimeBudget,
    secrets: Vec<Vec<u8>>,
}

pub(super) enum StepResult {
    /// With the next step; what this one found.
    Next(&'static str),
    /// With nothing: the rest is not needed, and why.
    Done(&'static str),
}

pub(super) struct Question<'q> {
    pub(super) party: Service,
    pub(super) url: &'q Url,
    pub(super) headers: &'q [(&'static str, Secret)],
    pub(super) form: Option<&'q Secret>,
}

impl<'s, 'w> RegistrySession<'s, 'w> {
    pub(super) fn new(
        agent: &'s mut Agent<'w>,
        flags: &'s LoginFlags,
        find_oras: &'s FindOras,
    ) -> Self {
        let variables = agent.world.environment();
        let proxies = Proxies::from_environment(&variables);
        let mut secrets = secrets::values_of_node(agent.world, &agent.layout, None, None);
        secrets.extend(proxies.secrets());
        agent.redactor = Redactor::new(&secrets);
        let budget = begin_budget(agent, flags.budget);
        Self {
            agent,
            flags,
            find_oras,
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
    pub(super) fn keep_secret(&mut self, token: &Secret) {
        self.secrets.push(token.expose().as_bytes().to_vec());
        self.agent.redactor = Redactor::new(&self.secrets);
    }

    /// Milliseconds since an instant of the clock that never jumps.
    pub(super) fn since(&mut self, began: Duration) -> i64 {
        let took = self.agent.world.monotonic().saturating_sub(began);
        i64::try_from(took.as_millis()).unwrap_or(i64::MAX)
    }

    /// Repeats a request until `read` accepts the response, the error is permanent, or the time limit is reached. The query
    /// is not logged.
    pub(super) fn ask<T>(
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
                    let pause = asked.and_then(|asked| budget::retry_after(asked, now));
                    let result = read(&response).map_err(|error| LoginError { pause, ..error });
                    (Some(response.status), result)
                }
            }
        })
    }

    /// Makes attempts; each is a line in the log.
    pub(super) fn retry<T>(
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
                    if cut.kind == RegistryErrorKind::TimedOut
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
            let pause = budget::pause(number, random, trouble.pause, left);
            let Some(pause) = pause.filter(|_| !is_enough) else {
                let why = if is_enough { None } else { Some(self.out_of_time(number, first)) };
                return Err(stop(party, endpoint, &trouble, why));
            };
            self.agent.world.sleep(pause);
            last = Some(trouble);
        }
        let text = format!("{endpoint} was not asked: nothing is left of {:?}", self.budget.total);
        Err(RegistryStop::new(Code::TimeUp, text))
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

fn begin_budget(agent: &mut Agent<'_>, asked: Duration) -> TimeBudget {
    let started = agent.world.variable(CSE_START);
    let now = agent.world.now();
    let cse_left =
        started.as_ref().and_then(|started| budget::cse_left(&started.to_string_lossy(), now));
    if started.is_some() && cse_left.is_none() {
        // Without its value, which may be a secret.
        let attributes = [("name", Text(CSE_START))];
        agent.warn("not a number of seconds; the CSE's budget is not known", &attributes);
    }
    TimeBudget::new(agent.world.monotonic(), asked, cse_left)
}

/// Finds oras; the error contains the evidence.
pub(crate) type FindOras = dyn Fn(&mut Agent<'_>) -> Result<PathBuf, String>;
