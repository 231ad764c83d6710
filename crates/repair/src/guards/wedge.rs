//! Guards 1, 2 and 5: the signs of the wedge itself.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::{Guard, Outcome, SIGNATURE, ago, the_last};
use crate::counted::counted;
use crate::observation::{ActivityEvent, Node, Pool, Reading, Seen};
use crate::settings::Settings;

const WRITE: &str = "Microsoft.Compute/virtualMachineScaleSets/write";
/// Clocks differ: an event may come from a little ahead.
const SKEW: SignedDuration = SignedDuration::from_mins(5);

/// Guard 1: usable nodes below the minimum, or instances without a node for a while.
pub(super) fn missing_nodes(seen: &Seen, settings: &Settings, now: Timestamp) -> Guard {
    let guard = |outcome, evidence: String| Guard::new("missing-nodes", outcome, evidence);
    let pool_name = &settings.target.pool;
    let (pool, nodes) = match (target(seen, pool_name), known(seen.nodes.as_ref())) {
        (Ok(Some(pool)), Ok(nodes)) => (pool, nodes),
        (Ok(None), _) => return guard(Outcome::Fail, format!("there is no pool {pool_name}")),
        (Err(why), _) => return guard(Outcome::Unknown, format!("pools {why}")),
        (_, Err(why)) => return guard(Outcome::Unknown, format!("nodes {why}")),
    };
    let usable =
        nodes.iter().filter(|n| n.pool.as_deref() == Some(pool_name) && n.usable()).count();
    let min = pool.min_count().unwrap_or(0);
    let below = i64::try_from(usable).is_ok_and(|usable| usable < min);
    let nodes_told = format!("{}, minimum {min}", counted(usable, "usable node"));
    if below {
        return guard(Outcome::Pass, nodes_told);
    }
    let Some(set) = seen.scale_set_of(pool_name) else {
        return guard(Outcome::Unknown, format!("{nodes_told}; the pool's scale set is not known"));
    };
    let instances = match known(seen.instances.get(&set.name)) {
        Ok(instances) => instances,
        Err(why) => return guard(Outcome::Unknown, format!("{nodes_told}; instances {why}")),
    };
    let unregistered =
        || instances.iter().filter(|instance| !nodes.iter().any(|node| node.is_on(&instance.id)));
    let dwell = settings.limits.registration;
    let old = unregistered()
        .filter(|i| i.created.is_some_and(|created| now.duration_since(created) >= dwell))
        .count();
    let ageless = unregistered().filter(|instance| instance.created.is_none()).count();
    let minutes = counted(dwell.as_mins(), "minute");
    // A node that is new does not say yet which instance it is on.
    let nowhere =
        |node: &&Node| node.pool.as_deref() == Some(pool_name) && node.provider_id.is_none();
    let nowhere = nodes.iter().filter(nowhere).count();
    if old > 0 && old <= nowhere {
        let text = format!(
            "{nodes_told}; {} that did not say yet on which instance",
            counted(nowhere, "node")
        );
        guard(Outcome::Unknown, text)
    } else if old > 0 {
        let text =
            format!("{nodes_told}; {} without a node for {minutes}", counted(old, "instance"));
        guard(Outcome::Pass, text)
    } else if ageless > 0 {
        guard(
            Outcome::Unknown,
            format!("{nodes_told}; {} without a node, age not known", counted(ageless, "instance")),
        )
    } else {
        guard(Outcome::Fail, format!("{nodes_told}; no instance without a node for {minutes}"))
    }
}

/// Guard 2: writes of the pool's current scale set fail with the signature, and none succeeded since.
pub(super) fn failing_writes(seen: &Seen, settings: &Settings, now: Timestamp) -> Guard {
    let guard = |outcome, evidence: String| Guard::new("failing-writes", outcome, evidence);
    let Some(set) = seen.scale_set_of(&settings.target.pool) else {
        let why = seen.scale_sets.as_ref().and_then(Reading::missing);
        let why = why.map_or_else(String::new, |why| format!(" (scale sets {why})"));
        return guard(Outcome::Unknown, format!("the pool's scale set is not known{why}"));
    };
    let events = match known(seen.events.as_ref()) {
        Ok(events) => events,
        Err(why) => return guard(Outcome::Unknown, format!("activity log {why}")),
    };
    let failures = failures(events, &set.id, now, settings.fail_window);
    let count = failures.len();
    let needed = settings.fail_threshold;
    let minutes = counted(settings.fail_window.as_mins(), "minute");
    let last = failures.iter().map(|(_, at)| *at).max();
    let age = the_last(last, now);
    let since = match last_success(events, &set.id) {
        Some(at) => format!("since one succeeded {}", ago(at, now)),
        None => "and none succeeded".to_owned(),
    };
    let text = format!(
        "{} of {} failed with {SIGNATURE} in {minutes} {since} ({needed} needed){age}",
        counted(count, "write"),
        set.name
    );
    let enough = needed > 0 && u32::try_from(count).is_ok_and(|count| count >= needed);
    guard(if enough { Outcome::Pass } else { Outcome::Fail }, text)
}

fn writes<'a>(
    events: &'a [ActivityEvent],
    scale_set: &'a str,
) -> impl Iterator<Item = &'a ActivityEvent> {
    events.iter().filter(move |event| event.is_operation(WRITE) && event.is_about(scale_set))
}

fn failed<'a>(
    events: &'a [ActivityEvent],
    scale_set: &'a str,
) -> impl Iterator<Item = &'a ActivityEvent> {
    let signed = |event: &&ActivityEvent| event.codes.iter().any(|code| code == SIGNATURE);
    writes(events, scale_set).filter(|event| event.status == "Failed").filter(signed)
}

fn last_success(events: &[ActivityEvent], scale_set: &str) -> Option<Timestamp> {
    let succeeded = writes(events, scale_set).filter(|event| event.status == "Succeeded");
    succeeded.map(|event| event.at).max()
}

/// When a write succeeded behind which none failed with the signature: the wedge is over.
pub(crate) fn succeeds_again(events: &[ActivityEvent], scale_set: &str) -> Option<Timestamp> {
    let success = last_success(events, scale_set)?;
    (!failed(events, scale_set).any(|event| event.at > success)).then_some(success)
}

/// Failed writes with the signature after the last success, once per correlation id.
fn failures(
    events: &[ActivityEvent],
    scale_set: &str,
    now: Timestamp,
    window: SignedDuration,
) -> BTreeSet<(String, Timestamp)> {
    let success = last_success(events, scale_set);
    let mut correlations = BTreeSet::new();
    let mut found = BTreeSet::new();
    for event in failed(events, scale_set) {
        let age = now.duration_since(event.at);
        let current = age <= window && age >= -SKEW && success.is_none_or(|s| event.at > s);
        if current && correlations.insert(event.correlation.clone()) {
            found.insert((event.correlation.clone(), event.at));
        }
    }
    found
}

/// Guard 5: the pool itself is in a state that counts as wedged.
pub(super) fn pool_state(seen: &Seen, settings: &Settings) -> Guard {
    let guard = |outcome, evidence: String| Guard::new("pool-state", outcome, evidence);
    match target(seen, &settings.target.pool) {
        Err(why) => guard(Outcome::Unknown, format!("pools {why}")),
        Ok(None) => guard(Outcome::Fail, format!("there is no pool {}", settings.target.pool)),
        Ok(Some(pool)) => {
            let state = pool.state();
            let wedged = settings.wedge_states.iter().any(|wedge| wedge == state);
            let said = if state.is_empty() { "not said" } else { state };
            let wanted = settings.wedge_states.join(", ");
            let outcome = if wedged { Outcome::Pass } else { Outcome::Fail };
            guard(outcome, format!("the pool's state is {said} (wedged: {wanted})"))
        }
    }
}

fn target<'a>(seen: &'a Seen, name: &str) -> Result<Option<&'a Pool>, String> {
    known(seen.pools.as_ref()).map(|pools| pools.iter().find(|pool| pool.name == name))
}

fn known<T>(reading: Option<&Reading<T>>) -> Result<&T, String> {
    let reading = reading.ok_or_else(|| "were not read".to_owned())?;
    reading.known().ok_or_else(|| reading.missing().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wedge_is_over_when_a_write_succeeds_and_none_fails_with_the_signature_since() {
        let event = |minute: i64, status: &str, code: &str| ActivityEvent {
            correlation: minute.to_string(),
            operation: WRITE.to_owned(),
            resource: "/set".to_owned(),
            status: status.to_owned(),
            at: Timestamp::from_second(minute * 60).unwrap(),
            caller: None,
            codes: vec![code.to_owned()],
        };
        let (failed, succeeded) = (event(1, "Failed", SIGNATURE), event(2, "Succeeded", ""));
        let over = |events: &[ActivityEvent]| succeeds_again(events, "/set").is_some();
        assert!(!over(&[]) && !over(std::slice::from_ref(&failed)));
        assert!(over(&[failed.clone(), succeeded.clone()]));
        assert!(!over(&[failed.clone(), succeeded.clone(), event(3, "Failed", SIGNATURE)]));
        assert!(over(&[failed.clone(), succeeded.clone(), event(3, "Failed", "AllocationFailed")]));
        assert!(over(&[event(2, "Failed", SIGNATURE), succeeded.clone()]), "at the same instant");
        assert_eq!(succeeds_again(&[failed, succeeded], "/other"), None);
    }
}
