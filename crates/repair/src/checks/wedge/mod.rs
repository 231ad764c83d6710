//! Signs of a wedge.

mod evidence;
pub(super) mod write_failures;

use jiff::Timestamp;
use mooring_workflow::screens::ago;
use mooring_workflow::{CheckResult, Outcome};

use super::text::{known, latest_suffix, target};
use super::{FAILING_WRITES, MISSING_NODES, POOL_STATE};
use crate::observation::{ClusterView, Node};
use crate::settings::Settings;
use crate::signatures::Signature;
use evidence::{Sign, Subject};
use mooring_workflow::Reading;
use mooring_workflow::plural::counted;
use write_failures::{LOG_DELAY, Writes};

/// Fewer Ready, schedulable nodes than the minimum, or instances that are not registered as nodes.
pub(super) fn missing_nodes(
    view: &ClusterView,
    settings: &Settings,
    now: Timestamp,
) -> CheckResult {
    let result = |outcome, evidence: String| CheckResult::new(MISSING_NODES, outcome, evidence);
    let pool_name = &settings.target.pool;
    let (pool, nodes) = match (target(view, pool_name), known(view.nodes.as_ref())) {
        (Ok(Some(pool)), Ok(nodes)) => (pool, nodes),
        (Ok(None), _) => return result(Outcome::Fail, format!("pool {pool_name} was not found")),
        (Err(why), _) => return result(Outcome::Unknown, format!("pools {why}")),
        (_, Err(why)) => return result(Outcome::Unknown, format!("nodes {why}")),
    };
    let usable =
        nodes.iter().filter(|n| n.pool.as_deref() == Some(pool_name) && n.usable()).count();
    let min = pool.min_count().unwrap_or(0);
    let below = i64::try_from(usable).is_ok_and(|usable| usable < min);
    let counts = format!("{} (minimum {min})", counted(usable, "Ready, schedulable node"));
    if below {
        return result(Outcome::Pass, counts);
    }
    let Some(set) = view.scale_set_of(pool_name) else {
        return result(Outcome::Unknown, format!("{counts}; the scale set of the pool is unknown"));
    };
    let instances = match known(view.instances.get(&set.name)) {
        Ok(instances) => instances,
        Err(why) => return result(Outcome::Unknown, format!("{counts}; instances {why}")),
    };
    let unregistered =
        || instances.iter().filter(|instance| !nodes.iter().any(|node| node.is_on(&instance.id)));
    let dwell = settings.limits.registration;
    let old = unregistered()
        .filter(|i| i.created.is_some_and(|created| now.duration_since(created) >= dwell))
        .count();
    let ageless = unregistered().filter(|instance| instance.created.is_none()).count();
    let minutes = format!("{}m", dwell.as_mins());
    // A new node has no providerID yet.
    let without_id =
        |node: &&Node| node.pool.as_deref() == Some(pool_name) && node.provider_id.is_none();
    let without_id = nodes.iter().filter(without_id).count();
    if old > 0 && old <= without_id {
        let text = format!("{counts}; {} without a providerID", counted(without_id, "node"));
        result(Outcome::Unknown, text)
    } else if old > 0 {
        let text =
            format!("{counts}; {} not registered as nodes after {minutes}", counted(old, "VM"));
        result(Outcome::Pass, text)
    } else if ageless > 0 {
        result(
            Outcome::Unknown,
            format!("{counts}; {} not registered as nodes, age unknown", counted(ageless, "VM")),
        )
    } else {
        result(
            Outcome::Fail,
            format!("{counts}; all VMs older than {minutes} are registered as nodes"),
        )
    }
}

/// Writes to the pool's scale set fail with an error of a wedge and none succeeded since, or live state shows the same.
pub(super) fn failing_writes(
    view: &ClusterView,
    settings: &Settings,
    now: Timestamp,
) -> CheckResult {
    let result = |outcome, evidence: String| CheckResult::new(FAILING_WRITES, outcome, evidence);
    let Some(set) = view.scale_set_of(&settings.target.pool) else {
        let why = view.scale_sets.as_ref().and_then(Reading::missing);
        let why = why.map_or_else(String::new, |why| format!(" (scale sets {why})"));
        return result(Outcome::Unknown, format!("the scale set of the pool is unknown{why}"));
    };
    // Without the log, the pool may have recovered.
    let events = match known(view.events.as_ref()) {
        Ok(events) => events,
        Err(why) => return result(Outcome::Unknown, format!("activity log {why}")),
    };
    let writes = Writes::of(events, &set.id);
    let success = writes.last_success();
    let subject = Subject { view, settings, set, success, now };
    let signs = settings.signatures.signatures.iter().flat_map(|signature| {
        let count = (!signature.errors.is_empty()).then(|| count(writes, signature, subject));
        count.into_iter().chain(subject.check(signature))
    });
    combine(signs.collect())
}

/// Passes if one sign does.
fn combine(mut signs: Vec<Sign>) -> CheckResult {
    let has = |wanted| signs.iter().any(|sign| sign.outcome == wanted);
    let outcome = if has(Outcome::Pass) {
        Outcome::Pass
    } else if has(Outcome::Unknown) {
        Outcome::Unknown
    } else {
        Outcome::Fail
    };
    signs.sort_by_key(|sign| sign.outcome != outcome);
    let mut evidence: Vec<String> = signs.into_iter().map(|sign| sign.text).collect();
    evidence.retain(|text| !text.is_empty());
    if evidence.is_empty() {
        evidence.push("no failing writes found".to_owned());
    }
    CheckResult { evidence, ..CheckResult::new(FAILING_WRITES, outcome, "") }
}

fn count(writes: Writes<'_>, signature: &Signature, subject: Subject<'_>) -> Sign {
    let Subject { settings, set, success, now, .. } = subject;
    let failures = writes.failures(signature, settings.fail_window, now);
    let needed = settings.fail_threshold;
    let newest = failures.first().copied();
    let since = match success {
        Some(at) => format!("last success {}", ago(at, now)),
        None => "none succeeded".to_owned(),
    };
    let text = format!(
        "{} to {} failed with {} in the last {}m, {since} (threshold {needed}{})",
        counted(failures.len(), "write"),
        set.name,
        signature.label(),
        settings.fail_window.as_mins(),
        latest_suffix(newest, now)
    );
    if needed > 0 && u32::try_from(failures.len()).is_ok_and(|count| count >= needed) {
        Sign::new(Outcome::Pass, text)
    } else if newest.is_some_and(|at| now.duration_since(at) < LOG_DELAY) {
        let late = LOG_DELAY.as_mins();
        Sign::new(
            Outcome::Unknown,
            format!("{text}; the activity log may be {late}m late, so there may be more"),
        )
    } else {
        Sign::new(Outcome::Fail, text)
    }
}

/// Keeps the outcome of `failing-writes` from right before an operation was aborted, unless a write succeeded since or the
/// log cannot be read. Nothing is retried after an abort.
pub(crate) fn keep(
    checks: &mut [CheckResult],
    view: &ClusterView,
    settings: &Settings,
    before: Timestamp,
    now: Timestamp,
) {
    let Some(check) = checks.iter_mut().find(|check| check.name == FAILING_WRITES) else { return };
    let is_known =
        known(view.events.as_ref()).is_ok() && view.scale_set_of(&settings.target.pool).is_some();
    // The log may show writes now that it did not show then.
    let since = before.checked_sub(LOG_DELAY).unwrap_or(Timestamp::MIN);
    let has_recovered = recovered(view, settings, now).is_some_and(|at| at > since);
    if check.outcome != Outcome::Pass && is_known && !has_recovered {
        check.outcome = Outcome::Pass;
        let kept =
            format!("result from right before the operation was aborted, {}", ago(before, now));
        check.evidence.insert(0, kept);
    }
}

/// Returns the time of a write to the pool's scale set that succeeded, with no sign of a wedge since. None while the log or
/// the scale set is unknown.
pub(crate) fn recovered(
    view: &ClusterView,
    settings: &Settings,
    now: Timestamp,
) -> Option<Timestamp> {
    let set = view.scale_set_of(&settings.target.pool)?;
    let events = known(view.events.as_ref()).ok()?;
    let at = Writes::of(events, &set.id).succeed_again(&settings.signatures)?;
    let subject = Subject { view, settings, set, success: Some(at), now };
    let mut signs = settings.signatures.signatures.iter().flat_map(|one| subject.check(one));
    (!signs.any(|sign| sign.outcome == Outcome::Pass)).then_some(at)
}

pub(super) fn pool_state(view: &ClusterView, settings: &Settings, _: Timestamp) -> CheckResult {
    let result = |outcome, evidence: String| CheckResult::new(POOL_STATE, outcome, evidence);
    match target(view, &settings.target.pool) {
        Err(why) => result(Outcome::Unknown, format!("pools {why}")),
        Ok(None) => result(Outcome::Fail, format!("pool {} was not found", settings.target.pool)),
        Ok(Some(pool)) => {
            let state = pool.state();
            let wedged = settings.wedge_states.iter().any(|wedge| wedge == state);
            let shown = if state.is_empty() { "unknown" } else { state };
            let wanted = settings.wedge_states.join(", ");
            let outcome = if wedged { Outcome::Pass } else { Outcome::Fail };
            result(outcome, format!("provisioningState is {shown} (wedged if {wanted})"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_of_the_outcome_comes_first() {
        let signs = |outcomes: &[(Outcome, &str)]| {
            combine(outcomes.iter().map(|(outcome, text)| Sign::new(*outcome, *text)).collect())
        };
        let found = signs(&[(Outcome::Fail, "no"), (Outcome::Unknown, ""), (Outcome::Pass, "yes")]);
        assert_eq!(
            (found.outcome, found.evidence),
            (Outcome::Pass, vec!["yes".into(), "no".into()])
        );
        let found = signs(&[(Outcome::Fail, "no"), (Outcome::Unknown, "unread")]);
        assert_eq!(found.outcome, Outcome::Unknown);
        assert_eq!(found.evidence, ["unread", "no"]);
        let found = signs(&[(Outcome::Fail, "")]);
        assert_eq!(
            (found.outcome, found.evidence),
            (Outcome::Fail, vec!["no failing writes found".into()])
        );
    }
}
