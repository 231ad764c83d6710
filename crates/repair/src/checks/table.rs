//! Table of checks, and their evaluation in each phase.

use jiff::Timestamp;
use mooring_workflow::{CheckResult, Outcome, Phase};

use super::access::{deny_assignments, locks, permissions};
use super::capacity::Planning;
use super::wedge::keep;
use super::{capacity, cluster, effect, reads, tolerations, wedge};
use crate::check_ids::{
    CLUSTER_STATE, DENY_ASSIGNMENTS, FAILING_WRITES, IP_ADDRESSES, LOCKS, MISSING_NODES,
    OTHER_OPERATION, OTHER_POOLS, PDB, PERMISSIONS, POOL_LIMIT, POOL_NAME, POOL_RECREATED,
    POOL_STATE, POOL_UNCHANGED, QUOTA, RECREATIONS, REPLACEMENT_READY, SUBNET, TIME, TOLERATIONS,
    VM_SIZE, WEDGED, WORKLOADS,
};
use crate::observation::{ClusterView, Query};
use crate::settings::Settings;
use crate::workflow::effects::Effect;
use crate::workflow::{Context, Halt, Progress, Reason, RepairRun as _, Run};

pub struct Check {
    pub id: &'static str,
    pub overridable: bool,
    on_fail: At,
    on_unknown: At,
    when: When,
}

/// Effect of an outcome on a run that is about to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Block,
    Warn,
    Allow,
}

type Detect = fn(&ClusterView, &Settings, Timestamp) -> CheckResult;
type Begin = fn(&Planning<'_>) -> CheckResult;
type BeginIfNeeded = fn(&Planning<'_>) -> Option<CheckResult>;
/// Reads and evaluation right before an effect.
type Before = (fn(&Context<'_>) -> Vec<Query>, fn(&Context<'_>) -> Result<(), Halt>);

/// Phase of a check, and its evaluation.
#[derive(Clone, Copy)]
enum When {
    Detect(Detect, Option<Before>),
    Begin(Begin),
    BeginIfNeeded(BeginIfNeeded),
    Effect(Before),
    Step,
}

use At::{Allow, Block, Warn};

const fn row(id: &'static str, overridable: bool, on: (At, At), when: When) -> Check {
    Check { id, overridable, on_fail: on.0, on_unknown: on.1, when }
}

/// Checks in display order. Columns: id, overridable, (on fail, on unknown), when.
pub static CHECKS: [Check; 24] = [
    row(MISSING_NODES, true, (Block, Block), When::Detect(wedge::missing_nodes, None)),
    row(
        FAILING_WRITES,
        true,
        (Block, Block),
        When::Detect(wedge::failing_writes, Some((reads::writes, effect::writes_still_fail))),
    ),
    row(CLUSTER_STATE, true, (Block, Block), When::Detect(cluster::cluster_state, None)),
    row(OTHER_POOLS, true, (Block, Block), When::Detect(cluster::other_pools, None)),
    row(
        POOL_STATE,
        true,
        (Block, Block),
        When::Detect(wedge::pool_state, Some((reads::pools, effect::did_not_recover))),
    ),
    row(QUOTA, true, (Block, Allow), When::Begin(capacity::quota)),
    row(VM_SIZE, true, (Block, Allow), When::Begin(capacity::size)),
    row(SUBNET, true, (Block, Allow), When::Begin(capacity::subnet)),
    // A run honors a PDB that blocks eviction, and can be resumed later.
    row(PDB, true, (Warn, Allow), When::Begin(capacity::pdb)),
    row(POOL_NAME, false, (Block, Allow), When::Begin(capacity::name)),
    row(POOL_LIMIT, true, (Block, Allow), When::Begin(capacity::pool_limit)),
    // Unknown blocks: this may be the third rebuild within a day.
    row(RECREATIONS, true, (Block, Block), When::Begin(capacity::recreations)),
    row(PERMISSIONS, true, (Block, Warn), When::Begin(permissions::permissions)),
    row(LOCKS, true, (Block, Warn), When::Begin(locks::locks)),
    row(DENY_ASSIGNMENTS, true, (Block, Warn), When::Begin(deny_assignments::deny_assignments)),
    row(TIME, false, (Warn, Allow), When::Begin(capacity::time)),
    row(TOLERATIONS, true, (Block, Allow), When::BeginIfNeeded(tolerations::tolerations)),
    row(WEDGED, false, (Block, Block), When::Effect((reads::verdict, wedged))),
    row(
        POOL_UNCHANGED,
        false,
        (Block, Block),
        When::Effect((reads::pool_and_scale_set, effect::pool_unchanged)),
    ),
    row(
        POOL_RECREATED,
        false,
        (Block, Block),
        When::Effect((reads::pool_and_scale_set, effect::pool_recreated)),
    ),
    row(
        REPLACEMENT_READY,
        false,
        (Block, Block),
        When::Effect((reads::replacement, effect::replacement_ready)),
    ),
    row(WORKLOADS, true, (Block, Block), When::Step),
    row(IP_ADDRESSES, true, (Block, Block), When::Step),
    row(OTHER_OPERATION, true, (Block, Block), When::Step),
];

/// Returns the checks right before an effect, since earlier results may be hours old: nothing is removed from a pool that
/// recovered or was replaced, or while the other pool has too few nodes.
pub(super) fn preconditions(effect: &Effect, run: &Run) -> &'static [&'static str] {
    // A rollback has its own checks.
    if run.phase == Phase::Aborting {
        return &[];
    }
    match effect {
        Effect::AbortOperation { .. } => &[WEDGED],
        Effect::PutPool { pool, .. } if *pool != run.pool() => {
            &[POOL_UNCHANGED, POOL_STATE, FAILING_WRITES]
        }
        Effect::Cordon { .. }
        | Effect::Evict { .. }
        | Effect::DeletePod { .. }
        | Effect::DeletePool { .. }
            if run.is_rebuilt() =>
        {
            &[POOL_RECREATED, REPLACEMENT_READY]
        }
        Effect::Cordon { .. } | Effect::DeletePool { .. } => {
            &[POOL_UNCHANGED, POOL_STATE, REPLACEMENT_READY, FAILING_WRITES]
        }
        Effect::Evict { .. } | Effect::DeletePod { .. } => {
            &[POOL_UNCHANGED, POOL_STATE, REPLACEMENT_READY]
        }
        Effect::PutPool { .. } | Effect::Uncordon { .. } | Effect::TagCluster { .. } => &[],
    }
}

pub(crate) fn ensure(context: &Context<'_>, effect: &Effect) -> Result<(), Halt> {
    ensure_all(context, preconditions(effect, context.run))
}

/// Evaluates checks in order until one fails.
pub(crate) fn ensure_all(context: &Context<'_>, ids: &[&str]) -> Result<(), Halt> {
    evaluated(context, ids).try_for_each(|(_, holds)| holds(context))
}

/// Returns the reads up to the first check that fails.
pub(crate) fn reads_before(context: &Context<'_>, effect: &Effect) -> Vec<Query> {
    let mut queries = Vec::new();
    for (reads, holds) in evaluated(context, preconditions(effect, context.run)) {
        queries.extend(reads(context));
        if holds(context).is_err() {
            break;
        }
    }
    queries
}

fn evaluated(context: &Context<'_>, ids: &[&str]) -> impl Iterator<Item = Before> {
    let overridden =
        |check: &Check| check.overridable && context.settings.overrides.contains_key(check.id);
    ids.iter().filter_map(|id| find(id)).filter(move |check| !overridden(check)).filter_map(
        |check| match check.when {
            When::Effect(before) | When::Detect(_, Some(before)) => Some(before),
            _ => None,
        },
    )
}

fn find(id: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|check| check.id == id)
}

pub fn overridable() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().filter(|check| check.overridable).map(|check| check.id)
}

/// Evaluates the five checks of the verdict.
pub fn evaluate(view: &ClusterView, settings: &Settings, now: Timestamp) -> Vec<CheckResult> {
    let detect = CHECKS.iter().filter_map(|check| match check.when {
        When::Detect(detect, _) => Some(detect),
        _ => None,
    });
    let overridden = |mut result: CheckResult| {
        result.overridden = settings.overrides.get(&result.name).cloned();
        result
    };
    detect.map(|detect| overridden(detect(view, settings, now))).collect()
}

/// Evaluates the checks of the verdict after all their reads.
///
/// An abort by this run ends the retries: `before` is when the checks passed right before it. Failed writes of that time
/// count until one succeeds.
pub(crate) fn ensure_wedged(context: &Context<'_>, before: Option<Timestamp>) -> Progress {
    context.pools()?;
    context.nodes_of(context.run.pool())?;
    context.ensure_read(reads::verdict(context))?;
    let (settings, now) = (settings(context), before.unwrap_or(context.now).max(context.now));
    let mut checks = evaluate(context.view, &settings, now);
    if let Some(before) = before {
        keep(&mut checks, context.view, &settings, before, now);
    }
    let refused: Vec<_> = checks.iter().filter(|check| !check.allows_run()).collect();
    if refused.is_empty() {
        let evidence = checks.iter().map(|check| match &check.overridden {
            Some(reason) if check.outcome != Outcome::Pass => {
                format!("{} overridden: {reason}", check.name)
            }
            _ => format!("{}: {}", check.name, check.detail()),
        });
        return Ok(evidence.collect());
    }
    // Unknown does not block: the run waits, and its timeouts stop it where it can be resumed.
    if refused.iter().all(|check| check.outcome == Outcome::Unknown) {
        let names: Vec<_> = refused.iter().map(|check| check.name.as_str()).collect();
        return Err(context.wait(format!("for unknown checks: {}", names.join(", "))));
    }
    let text = |check: &&CheckResult| format!("{}: {}", check.name, check.detail());
    let texts: Vec<_> = refused.iter().map(text).collect();
    Err(context.refused(Reason::CheckFailed, texts.join(" | ")))
}

/// Returns the settings; an abort by this run is not evidence against the wedge.
fn settings(context: &Context<'_>) -> Settings {
    let settings = context.settings.clone();
    match context.run.first_abort() {
        Some(first) => settings.after_abort(first, context.now),
        None => settings,
    }
}

fn wedged(context: &Context<'_>) -> Result<(), Halt> {
    ensure_wedged(context, None).map(drop)
}

/// Evaluates the checks of a plan.
pub(crate) fn begin(planning: &Planning<'_>) -> Vec<CheckResult> {
    let begin = |check: &Check| match check.when {
        When::Begin(begin) => Some(begin(planning)),
        When::BeginIfNeeded(begin) => begin(planning),
        _ => None,
    };
    CHECKS.iter().filter_map(begin).collect()
}

/// Returns true if the result blocks a run unless overridden.
pub fn blocks(result: &CheckResult) -> bool {
    at_beginning(result) == Block
}

pub fn warns(result: &CheckResult) -> bool {
    result.outcome == Outcome::Unknown && at_beginning(result) == Warn
}

fn at_beginning(result: &CheckResult) -> At {
    let check = find(&result.name);
    match result.outcome {
        Outcome::Pass => Allow,
        Outcome::Fail => check.map_or(Block, |check| check.on_fail),
        Outcome::Unknown => check.map_or(Block, |check| check.on_unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_names_are_unique() {
        for check in &CHECKS {
            assert_eq!(
                CHECKS.iter().filter(|other| other.id == check.id).count(),
                1,
                "{}",
                check.id
            );
        }
    }

    fn is_begin(check: &Check) -> bool {
        matches!(check.when, When::Begin(_) | When::BeginIfNeeded(_))
    }

    #[test]
    fn plan_is_blocked_by_failures_and_unknown_recreations() {
        let result = |id: &str, outcome| CheckResult::new(id, outcome, "");
        for check in CHECKS.iter().filter(|check| is_begin(check)) {
            let fails = !matches!(check.id, PDB | TIME);
            assert_eq!(blocks(&result(check.id, Outcome::Fail)), fails, "{}", check.id);
            let unknown = check.id == RECREATIONS;
            assert_eq!(blocks(&result(check.id, Outcome::Unknown)), unknown, "{}", check.id);
            let warned = [PERMISSIONS, LOCKS, DENY_ASSIGNMENTS].contains(&check.id);
            assert_eq!(warns(&result(check.id, Outcome::Unknown)), warned, "{}", check.id);
            assert!(!blocks(&result(check.id, Outcome::Pass)), "{}", check.id);
        }
    }
}
