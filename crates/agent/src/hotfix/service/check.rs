//! `check-hotfix`: refreshes the pointer from the live-patching service. It never fails a boot.

use std::time::SystemTime;

use super::live::{self, FetchError};
use super::target;
use crate::format::event::{EventLevel, Task};
use crate::hotfix::pointer::{self, Pointer};
use crate::hotfix::policy::{self, Policy};
use crate::node::agent::Agent;
use crate::node::log::Log;
use crate::node::log::LogValue::Text;
use crate::world::Host;

/// Runs the command; the result is always 0, also after a panic.
pub(crate) fn check_hotfix(agent: &mut Agent<'_>, has_extra_words: bool) -> u8 {
    agent.info("aks-node-controller check-hotfix started", &[]);
    let start = agent.world.now();
    leave_event_on_panic(agent, start);
    if has_extra_words {
        agent.warn("check-hotfix takes no arguments; ignoring them", &[]);
    }
    match check(agent) {
        Ok(outcome) => {
            agent.info("check-hotfix completed", &[("outcome", Text(outcome))]);
            let message = format!("check-hotfix outcome={outcome}");
            agent.event(Task::CheckHotfix, EventLevel::Informational, &message, start);
        }
        Err(error) => {
            agent.warn(
                "check-hotfix completed with error (fail-open)",
                &[("outcome", Text("failed")), ("error", Text(&error))],
            );
            let message = format!("check-hotfix outcome=failed error={error}");
            agent.event(Task::CheckHotfix, EventLevel::Error, &message, start);
        }
    }
    0
}

/// A panic is an event, and no reason not to boot. The shipped build aborts on a panic, so both happen before that.
fn leave_event_on_panic(agent: &mut Agent<'_>, start: SystemTime) {
    let (layout, version) = (agent.layout.clone(), agent.version);
    let last_words = move |place: &str| {
        let mut world = Host::default();
        let Ok(log) = Log::open(&mut world, &layout) else { return };
        let mut agent = Agent::new(&mut world, layout.clone(), log, version);
        agent.error("check-hotfix panicked (fail-open)", &[("place", Text(place))]);
        let message = format!("check-hotfix outcome=failed panic=at {place}");
        agent.event(Task::CheckHotfix, EventLevel::Error, &message, start);
    };
    agent.world.on_panic(Some(0), Box::new(last_words));
}

/// Returns the outcome with its name in upstream's telemetry.
fn check(agent: &mut Agent<'_>) -> Result<&'static str, String> {
    if policy::read(agent) == Policy::Off {
        // Upstream has no such policy.
        return Ok("disabledByPolicy");
    }
    let text = match live::fetch(agent) {
        Ok(text) => text,
        Err(FetchError::NothingPublished(why)) => {
            agent.info(
                "LPS reports no hotfix available for this node (fail-open)",
                &[("reason", Text(&why))],
            );
            return Ok("noHotfixAvailable");
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
        return Ok("noHotfixAvailable");
    }
    let served = Pointer { hotfixes: hotfixes.clone(), ..Pointer::default() };
    pointer::stage(agent, hotfixes).map_err(|error| format!("writing hotfix config: {error}"))?;
    Ok(match served.agent_version(agent.version) {
        Some(_) => "lpsRead",
        None => "noHotfixForBase",
    })
}

/// Uses the map of the node config, since the service is unreachable.
fn fall_back(agent: &mut Agent<'_>, why: &str) -> Result<&'static str, String> {
    let attributes = [("error", Text(why))];
    agent.warn("failed to reach LPS, attempting cold-start fallback", &attributes);
    let hotfixes = target::cold_start(agent).map_err(|error| {
        format!("LPS fetch failed ({why}) and cold-start fallback failed: {error}")
    })?;
    let Some(hotfixes) = hotfixes else {
        return Err(format!("LPS fetch failed and no cold-start pointer present: {why}"));
    };
    pointer::stage(agent, hotfixes)
        .map_err(|error| format!("writing cold-start hotfix config: {error}"))?;
    Ok("customDataFallback")
}
