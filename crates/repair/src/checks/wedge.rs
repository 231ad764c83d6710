//! The signs of the wedge itself.

use jiff::Timestamp;
use mooring_workflow::{CheckResult, Outcome};

use super::evidence::{Sign, Subject};
use super::storm::{LOG_DELAY, Writes};
use super::text::{ago, known, latest_suffix, target};
use super::{FAILING_WRITES, MISSING_NODES, POOL_STATE};
use crate::observation::{ClusterView, Node};
use crate::settings::Settings;
use crate::signatures::Signature;
use mooring_workflow::Reading;
use mooring_workflow::plural::counted;

/// Usable nodes below the minimum, or instances without a node for a while.
pub(super) fn missing_nodes(
    view: &ClusterView,
    settings: &Settings,
    now: Timestamp,
) -> CheckResult {
    let guard = |outcome, evidence: String| CheckResult::new(MISSING_NODES, outcome, evidence);
    let pool_name = &settings.target.pool;
    let (pool, nodes) = match (target(view, pool_name), known(view.nodes.as_ref())) {
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
    let Some(set) = view.scale_set_of(pool_name) else {
        return guard(Outcome::Unknown, format!("{nodes_told}; the pool's scale set is not known"));
    };
    let instances = match known(view.instances.get(&set.name)) {
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

/// Writes of the pool's current scale set fail with a signature and none succeeded since, or live state shows
/// the same.
pub(super) fn failing_writes(
    view: &ClusterView,
    settings: &Settings,
    now: Timestamp,
) -> CheckResult {
    let guard = |outcome, evidence: String| CheckResult::new(FAILING_WRITES, outcome, evidence);
    let Some(set) = view.scale_set_of(&settings.target.pool) else {
        let why = view.scale_sets.as_ref().and_then(Reading::missing);
        let why = why.map_or_else(String::new, |why| format!(" (scale sets {why})"));
        return guard(Outcome::Unknown, format!("the pool's scale set is not known{why}"));
    };
    // Without the log nothing shows that the pool did not recover.
    let events = match known(view.events.as_ref()) {
        Ok(events) => events,
        Err(why) => return guard(Outcome::Unknown, format!("activity log {why}")),
    };
    let writes = Writes::of(events, &set.id);
    let success = writes.last_success();
    let subject = Subject { view, settings, set, success, now };
    let signs = settings.signatures.signatures.iter().flat_map(|signature| {
        let count = (!signature.errors.is_empty()).then(|| count(writes, signature, subject));
        count.into_iter().chain(subject.check(signature))
    });
    together(signs.collect())
}

/// The guard that holds as soon as one sign does.
fn together(mut signs: Vec<Sign>) -> CheckResult {
    let has = |wanted| signs.iter().any(|sign| sign.outcome == wanted);
    let outcome = if has(Outcome::Pass) {
        Outcome::Pass
    } else if has(Outcome::Unknown) {
        Outcome::Unknown
    } else {
        Outcome::Fail
    };
    // What decides comes first.
    signs.sort_by_key(|sign| sign.outcome != outcome);
    let mut evidence: Vec<String> = signs.into_iter().map(|sign| sign.text).collect();
    evidence.retain(|text| !text.is_empty());
    if evidence.is_empty() {
        evidence.push("nothing shows a wedge".to_owned());
    }
    CheckResult { evidence, ..CheckResult::new(FAILING_WRITES, outcome, "") }
}

fn count(writes: Writes<'_>, signature: &Signature, subject: Subject<'_>) -> Sign {
    let Subject { settings, set, success, now, .. } = subject;
    let failures = writes.failures(signature, settings.fail_window, now);
    let needed = settings.fail_threshold;
    let newest = failures.first().copied();
    let since = match success {
        Some(at) => format!("since one succeeded {}", ago(at, now)),
        None => "and none succeeded".to_owned(),
    };
    let text = format!(
        "{} of {} failed with {} in {} {since} ({needed} needed){}",
        counted(failures.len(), "write"),
        set.name,
        signature.label(),
        counted(settings.fail_window.as_mins(), "minute"),
        latest_suffix(newest, now)
    );
    if needed > 0 && u32::try_from(failures.len()).is_ok_and(|count| count >= needed) {
        Sign::new(Outcome::Pass, text)
    } else if newest.is_some_and(|at| now.duration_since(at) < LOG_DELAY) {
        let late = counted(LOG_DELAY.as_mins(), "minute");
        Sign::new(
            Outcome::Unknown,
            format!("{text}; the activity log may be {late} late, so more are not ruled out"),
        )
    } else {
        Sign::new(Outcome::Fail, text)
    }
}

/// Keeps what `failing-writes` said right before an operation was aborted, unless a write succeeded since or the log cannot be
/// read. Nothing is tried again after an abort, so what failed then cannot fail anew.
pub(crate) fn keep(
    guards: &mut [CheckResult],
    view: &ClusterView,
    settings: &Settings,
    before: Timestamp,
    now: Timestamp,
) {
    let Some(guard) = guards.iter_mut().find(|guard| guard.name == FAILING_WRITES) else { return };
    let is_known =
        known(view.events.as_ref()).is_ok() && view.scale_set_of(&settings.target.pool).is_some();
    // What the log did not show when it was judged may show now.
    let since = before.checked_sub(LOG_DELAY).unwrap_or(Timestamp::MIN);
    let is_over = recovered(view, settings, now).is_some_and(|at| at > since);
    if guard.outcome != Outcome::Pass && is_known && !is_over {
        guard.outcome = Outcome::Pass;
        let kept =
            format!("it passed right before the operation was aborted, {}", ago(before, now));
        guard.evidence.insert(0, kept);
    }
}

/// When a write of the pool's scale set succeeded with nothing since that shows a wedge: neither a failure nor live
/// state. None while the log or the scale set is not known.
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

/// The pool itself is in a state that counts as wedged.
pub(super) fn pool_state(view: &ClusterView, settings: &Settings, _: Timestamp) -> CheckResult {
    let guard = |outcome, evidence: String| CheckResult::new(POOL_STATE, outcome, evidence);
    match target(view, &settings.target.pool) {
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
