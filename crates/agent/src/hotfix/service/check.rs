//! `check-hotfix`: refreshes the pointer from the live-patching service. It never fails a boot.

use std::time::SystemTime;

use super::live::{self, FetchError};
use super::target;
use crate::format::event::{EventLevel, Task};
use crate::hotfix::pointer::{self, Pointer};
use crate::hotfix::policy::{self, Policy};
use crate::node::agent::Agent;
use crate::node::log::{Log, LogValue};
use crate::world::Host;

/// The outcome of a check, with the names of upstream's telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckOutcome {
    LpsRead,
    NoHotfixForBase,
    NoHotfixAvailable,
    CustomDataFallback,
    /// Hotfixes are off; upstream has no such policy.
    DisabledByPolicy,
    Failed,
}

impl CheckOutcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::LpsRead => "lpsRead",
            Self::NoHotfixForBase => "noHotfixForBase",
            Self::NoHotfixAvailable => "noHotfixAvailable",
            Self::CustomDataFallback => "customDataFallback",
            Self::DisabledByPolicy => "disabledByPolicy",
            Self::Failed => "failed",
        }
    }
}

/// Runs the command; the result is always 0, also after a panic.
pub(crate) fn check_hotfix(agent: &mut Agent<'_>, has_extra_words: bool) -> u8 {
    agent.info("aks-node-controller check-hotfix started", &[]);
    let start = agent.world.now();
    leave_event_on_panic(agent, start);
    if has_extra_words {
        agent.warn("check-hotfix takes no arguments; ignoring them", &[]);
    }
    let (outcome, error) = match check(agent) {
        Ok(outcome) => (outcome, None),
        Err(error) => (CheckOutcome::Failed, Some(error)),
    };
    let level = match outcome {
        CheckOutcome::Failed => EventLevel::Error,
        _ => EventLevel::Informational,
    };
    let message = match &error {
        None => format!("check-hotfix outcome={}", outcome.as_str()),
        Some(error) => format!("check-hotfix outcome={} error={error}", outcome.as_str()),
    };
    let named = ("outcome", LogValue::Text(outcome.as_str()));
    match &error {
        None => agent.info("check-hotfix completed", &[named]),
        Some(error) => agent.warn(
            "check-hotfix completed with error (fail-open)",
            &[named, ("error", LogValue::Text(error))],
        ),
    }
    agent.event(Task::CheckHotfix, level, &message, start);
    0
}

/// A panic is an event, and no reason not to boot. The shipped build aborts on a panic, so both happen before that.
fn leave_event_on_panic(agent: &mut Agent<'_>, start: SystemTime) {
    let (layout, version) = (agent.layout.clone(), agent.version);
    let last_words = move |place: &str| {
        let mut world = Host::default();
        let Ok(log) = Log::open(&mut world, &layout) else { return };
        let mut agent = Agent::new(&mut world, layout.clone(), log, version);
        agent.error("check-hotfix panicked (fail-open)", &[("place", LogValue::Text(place))]);
        let message = format!("check-hotfix outcome=failed panic=at {place}");
        agent.event(Task::CheckHotfix, EventLevel::Error, &message, start);
    };
    agent.world.on_panic(Some(0), Box::new(last_words));
}

fn check(agent: &mut Agent<'_>) -> Result<CheckOutcome, String> {
    if policy::read(agent) == Policy::Off {
        return Ok(CheckOutcome::DisabledByPolicy);
    }
    let text = match live::fetch(agent) {
        Ok(text) => text,
        Err(FetchError::NothingPublished(why)) => {
            agent.info(
                "LPS reports no hotfix available for this node (fail-open)",
                &[("reason", LogValue::Text(&why))],
            );
            return Ok(CheckOutcome::NoHotfixAvailable);
        }
        Err(FetchError::Refused(why)) => {
            return Err(format!("LPS fetch failed with a client error, not falling back: {why}"));
        }
        Err(FetchError::Unreachable(why)) => return fall_back(agent, &why),
    };
    let Pointer { hotfixes, .. } =
        Pointer::parse(&text).map_err(|error| format!("parsing LPS hotfix pointer: {error}"))?;
    if hotfixes.is_empty() {
        agent.info("LPS returned no hotfixes for this node; existing pointer left intact", &[]);
        return Ok(CheckOutcome::NoHotfixAvailable);
    }
    let served = Pointer { hotfixes: hotfixes.clone(), ..Pointer::default() };
    pointer::stage(agent, hotfixes).map_err(|error| format!("writing hotfix config: {error}"))?;
    Ok(match served.agent_version(agent.version) {
        Some(_) => CheckOutcome::LpsRead,
        None => CheckOutcome::NoHotfixForBase,
    })
}

/// Uses the map of the node config, since the service is unreachable.
fn fall_back(agent: &mut Agent<'_>, why: &str) -> Result<CheckOutcome, String> {
    let attributes = [("error", LogValue::Text(why))];
    agent.warn("failed to reach LPS, attempting cold-start fallback", &attributes);
    let hotfixes = target::cold_start(agent).map_err(|error| {
        format!("LPS fetch failed ({why}) and cold-start fallback failed: {error}")
    })?;
    let Some(hotfixes) = hotfixes else {
        return Err(format!("LPS fetch failed and no cold-start pointer present: {why}"));
    };
    pointer::stage(agent, hotfixes)
        .map_err(|error| format!("writing cold-start hotfix config: {error}"))?;
    Ok(CheckOutcome::CustomDataFallback)
}
