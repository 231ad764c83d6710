//! What the steps share, and how an attempt is made, logged and repeated.

use std::path::PathBuf;
use std::time::Duration;

use mooring_redact::{Redactor, Secret};

use super::budget::{self, Budget};
use super::proxy::Proxies;
use super::trouble::{Again, Code, Kind, Party, Stop, Trouble};
use crate::agent::Agent;
use crate::cli::LoginFlags;
use crate::log::Value;
use crate::secrets;
use crate::world::{HttpRequest, HttpResponse, Roots, Url};

/// When the CSE began, in seconds since 1970; the scripts export it.
const CSE_START: &str = "CSE_STARTTIME_SECONDS";

/// A login in progress.
pub(super) struct Session<'s, 'w> {
    pub(super) agent: &'s mut Agent<'w>,
    pub(super) flags: &'s LoginFlags,
    pub(super) find_oras: &'s FindOras,
    /// The step that is under way.
    pub(super) step: &'static str,
    pub(super) roots: Roots,
    pub(super) oras: PathBuf,
    pub(super) access_token: Secret,
    pub(super) refresh_token: Secret,
    proxies: Proxies,
    budget: Budget,
    /// Whatever must not be shown.
    secrets: Vec<Vec<u8>>,
}

pub(super) struct Question<'q> {
    pub(super) party: Party,
    pub(super) url: &'q Url,
    pub(super) headers: &'q [(&'static str, Secret)],
    pub(super) form: Option<&'q Secret>,
}

impl<'s, 'w> Session<'s, 'w> {
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

    /// From now on this token is masked wherever it might be shown.
    pub(super) fn keep_secret(&mut self, token: &Secret) {
        self.secrets.push(token.expose().as_bytes().to_vec());
        self.agent.redactor = Redactor::new(&self.secrets);
    }

    /// Milliseconds since an instant of the clock that never jumps.
    pub(super) fn since(&mut self, began: Duration) -> i64 {
        let took = self.agent.world.monotonic().saturating_sub(began);
        i64::try_from(took.as_millis()).unwrap_or(i64::MAX)
    }

    /// Asks until there is an answer that `judge` takes, that will not change, or no time. The address is told without
    /// its query.
    pub(super) fn ask<T>(
        &mut self,
        question: &Question<'_>,
        judge: impl Fn(&HttpResponse) -> Result<T, Trouble>,
    ) -> Result<T, Stop> {
        self.retry(question.party, &question.url.to_string(), |session, limit| {
            let is_registry = question.party == Party::Registry;
            let request = HttpRequest {
                url: question.url,
                headers: question.headers,
                form: question.form,
                // IMDS is on this machine's own link: whoever sits behind a proxy is not it.
                proxy: session.proxies.of(question.url).filter(|_| is_registry),
                roots: &session.roots,
                limit,
            };
            match session.agent.world.fetch(&request) {
                Err(failure) => (None, Err(Trouble::of_failure(&failure))),
                Ok(response) => {
                    let now = session.agent.world.now();
                    let asked = response.header("retry-after");
                    let pause = asked.and_then(|asked| budget::retry_after(asked, now));
                    let judged = judge(&response).map_err(|trouble| Trouble { pause, ..trouble });
                    (Some(response.status), judged)
                }
            }
        })
    }

    /// Makes attempts; each is a line in the log.
    pub(super) fn retry<T>(
        &mut self,
        party: Party,
        endpoint: &str,
        mut attempt: impl FnMut(&mut Self, Duration) -> (Option<u16>, Result<T, Trouble>),
    ) -> Result<T, Stop> {
        let first = self.agent.world.monotonic();
        let mut last: Option<Trouble> = None;
        for number in 1.. {
            let began = self.agent.world.monotonic();
            let left = self.budget.left(began);
            if left.is_zero() {
                // Before the first attempt, or behind a pause that ended late.
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
                // What the budget alone cut short tells nothing of the other side.
                Err(cut) if cut.kind == Kind::TimedOut && limit < self.flags.attempt_timeout => {
                    last.unwrap_or(cut)
                }
                Err(trouble) => trouble,
            };
            let is_enough = match trouble.again {
                Again::No => true,
                Again::Attempts(most) => number >= most,
                Again::WhileTimeLasts => false,
            };
            let chance = self.chance();
            let left = self.budget.left(self.agent.world.monotonic());
            let pause = budget::pause(number, chance, trouble.pause, left);
            let Some(pause) = pause.filter(|_| !is_enough) else {
                let why = if is_enough { None } else { Some(self.out_of_time(number, first)) };
                return Err(stop(party, endpoint, &trouble, why));
            };
            self.agent.world.sleep(pause);
            last = Some(trouble);
        }
        let text = format!("{endpoint} was not asked: nothing is left of {:?}", self.budget.total);
        Err(Stop::new(Code::TimeUp, text))
    }

    fn out_of_time(&mut self, attempts: u32, first: Duration) -> String {
        let seconds = Duration::from_millis(self.since(first).unsigned_abs()).as_secs_f64();
        let total = self.budget.total.as_secs_f64();
        let s = if attempts == 1 { "" } else { "s" };
        format!("; gave up after {attempts} attempt{s} in {seconds:.1} s of {total:.0} s")
    }

    /// Equally likely to be anything; the middle where the system gives nothing.
    fn chance(&mut self) -> u32 {
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
        trouble: Option<&Trouble>,
    ) {
        let status = status.map_or(Value::Null, |status| Value::Number(status.into()));
        let mut attributes = vec![
            ("step", Value::Text(self.step)),
            ("endpoint", Value::Text(endpoint)),
            ("attempt", Value::Number(number.into())),
            ("status", status),
            ("durationMs", Value::Number(took)),
        ];
        match trouble {
            None => self.agent.info("registry-login attempt", &attributes),
            Some(trouble) => {
                attributes.push(("kind", Value::Text(trouble.kind.word())));
                attributes.push(("error", Value::Text(&trouble.text)));
                self.agent.warn("registry-login attempt", &attributes);
            }
        }
    }
}

fn stop(party: Party, endpoint: &str, trouble: &Trouble, why: Option<String>) -> Stop {
    let text = format!("{endpoint}: {}{}", trouble.text, why.unwrap_or_default());
    Stop { hint: Some(trouble.hint(party)), ..Stop::new(trouble.code(party), text) }
}

fn begin_budget(agent: &mut Agent<'_>, asked: Duration) -> Budget {
    let variables = agent.world.environment();
    let started = variables.iter().find(|(name, _)| name == CSE_START);
    let started = started.map(|(_, value)| value.to_string_lossy().into_owned());
    let now = agent.world.now();
    let cse_left = started.as_deref().and_then(|started| budget::cse_left(started, now));
    if started.is_some() && cse_left.is_none() {
        // Not its value: whatever is there instead of a number may be a secret.
        let attributes = [("name", Value::Text(CSE_START))];
        agent.warn("not a number of seconds; the CSE's budget is not known", &attributes);
    }
    Budget::new(agent.world.monotonic(), asked, cse_left)
}

/// Looks for oras; the error says what was found instead.
pub(crate) type FindOras = dyn Fn(&mut Agent<'_>) -> Result<PathBuf, String>;
