//! Table of checks, and their evaluation in each phase.

use jiff::Timestamp;
use mooring_workflow::reading::once;
use mooring_workflow::{CheckResult, NotRead, Outcome, Phase, Reason};

use super::access::{deny_assignments, locks, permissions};
use super::capacity::{self, Planning};
use super::finding::{Found, Subject, pass, result};
use super::{cluster, wedge};
use crate::names::{
    CLUSTER_STATE, DENY_ASSIGNMENTS, FAILING_WRITES, IP_ADDRESSES, LOCKS, MISSING_NODES,
    OTHER_OPERATION, OTHER_POOLS, PDB, PERMISSIONS, POOL_LIMIT, POOL_NAME, POOL_RECREATED,
    POOL_STATE, POOL_UNCHANGED, QUOTA, RECREATIONS, REPLACEMENT_READY, SUBNET, TIME, TOLERATIONS,
    VM_SIZE, WEDGED, WORKLOADS,
};
use crate::observation::ClusterView;
use crate::plan::Step;
use crate::settings::Settings;
use crate::workflow::effects::Effect;
use crate::workflow::{Context, Decision, Run, Services};

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

/// Phase of a check, and its evaluation.
#[derive(Clone, Copy)]
enum When {
    Detect(fn(Subject<'_>) -> Found),
    Begin(fn(&Planning<'_>) -> Found),
    /// Passes if the temporary pool exists already.
    Create(fn(&Planning<'_>) -> Found),
    /// None for pools that do not need it.
    BeginIfNeeded(fn(&Planning<'_>) -> Option<Found>),
    /// Right before an effect, see [`Context::precondition`].
    Effect,
    Step,
}

use At::{Allow, Block, Warn};

const fn row(id: &'static str, overridable: bool, on: (At, At), when: When) -> Check {
    Check { id, overridable, on_fail: on.0, on_unknown: on.1, when }
}

/// Checks in display order. Columns: id, overridable, (on fail, on unknown), when.
pub static CHECKS: [Check; 24] = [
    row(MISSING_NODES, true, (Block, Block), When::Detect(cluster::missing_nodes)),
    row(FAILING_WRITES, true, (Block, Block), When::Detect(wedge::failing_writes)),
    row(CLUSTER_STATE, true, (Block, Block), When::Detect(cluster::cluster_state)),
    row(OTHER_POOLS, true, (Block, Block), When::Detect(cluster::other_pools)),
    row(POOL_STATE, true, (Block, Block), When::Detect(cluster::pool_state)),
    row(QUOTA, true, (Block, Allow), When::Create(capacity::quota)),
    row(VM_SIZE, true, (Block, Allow), When::Create(capacity::size)),
    row(SUBNET, true, (Block, Allow), When::Create(capacity::subnet)),
    // A run honors a PDB that blocks eviction, and can be resumed later.
    row(PDB, true, (Warn, Allow), When::Begin(capacity::pdb)),
    row(POOL_NAME, false, (Block, Allow), When::Begin(capacity::name)),
    row(POOL_LIMIT, true, (Block, Allow), When::Create(capacity::pool_limit)),
    // Unknown blocks: this may be the third rebuild within a day.
    row(RECREATIONS, true, (Block, Block), When::Begin(capacity::recreations)),
    row(PERMISSIONS, true, (Block, Warn), When::Begin(permissions)),
    row(LOCKS, true, (Block, Warn), When::Begin(locks)),
    row(DENY_ASSIGNMENTS, true, (Block, Warn), When::Begin(deny_assignments)),
    row(TIME, false, (Warn, Allow), When::Begin(capacity::time)),
    row(TOLERATIONS, true, (Block, Allow), When::BeginIfNeeded(capacity::tolerations)),
    row(WEDGED, false, (Block, Block), When::Effect),
    row(POOL_UNCHANGED, false, (Block, Block), When::Effect),
    row(POOL_RECREATED, false, (Block, Block), When::Effect),
    row(REPLACEMENT_READY, false, (Block, Block), When::Effect),
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
        Effect::PutPool { pool, .. } if *pool != run.session.plan.pool => {
            &[POOL_UNCHANGED, POOL_STATE, FAILING_WRITES]
        }
        Effect::Cordon { .. }
        | Effect::Evict { .. }
        | Effect::DeletePod { .. }
        | Effect::DeletePool { .. }
            if run.step().is_none_or(|step| step > Step::VerifyPool) =>
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

fn find(id: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|check| check.id == id)
}

pub fn overridable() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().filter(|check| check.overridable).map(|check| check.id)
}

impl Settings {
    /// Adds the override `CHECK=REASON`.
    pub fn add_override(&mut self, text: &str) -> Result<(), String> {
        let (check, reason) = text.split_once('=').unwrap_or((text, ""));
        if !overridable().any(|id| id == check) {
            let (name, valid) = (mooring_redact::identifier(check), overridable());
            let valid = valid.collect::<Vec<_>>().join(", ");
            return Err(format!("unknown check '{name}'; valid checks: {valid}"));
        }
        if reason.trim().is_empty() {
            return Err(format!("an override requires a reason: --override {check}=REASON"));
        }
        if self.overrides.contains_key(check) {
            return Err(format!("--override {check} is given twice"));
        }
        self.apply_override(check, reason.trim());
        Ok(())
    }
}

/// Evaluates the five checks of the verdict.
pub fn evaluate(view: &ClusterView, settings: &Settings, now: Timestamp) -> Vec<CheckResult> {
    let subject = Subject { view, settings, now };
    let detect = |check: &Check| match check.when {
        When::Detect(detect) => Some(CheckResult {
            overridden: settings.overrides.get(check.id).cloned(),
            ..result(check.id, detect(subject))
        }),
        _ => None,
    };
    CHECKS.iter().filter_map(detect).collect()
}

/// Evaluates the checks of a plan.
pub(crate) fn begin(planning: &Planning<'_>) -> Vec<CheckResult> {
    let begin = |check: &Check| {
        let found = match check.when {
            When::Create(_) if planning.left.is_some() => {
                pass(format!("pool {} exists already", planning.temporary()))
            }
            When::Begin(begin) | When::Create(begin) => begin(planning),
            When::BeginIfNeeded(begin) => begin(planning)?,
            _ => return None,
        };
        Some(result(check.id, found))
    };
    CHECKS.iter().filter_map(begin).collect()
}

impl<S: Services> Context<'_, S> {
    /// Returns what must come before an effect, by the first check that does not hold.
    pub(crate) async fn blocked(&self, effect: &Effect) -> Result<Option<Decision>, NotRead> {
        self.blocked_by(preconditions(effect, self.run)).await
    }

    pub(crate) async fn blocked_by(&self, ids: &[&str]) -> Result<Option<Decision>, NotRead> {
        for id in ids {
            let is_overridable = find(id).is_some_and(|check| check.overridable);
            if is_overridable && self.has_override(id) {
                continue;
            }
            if let Some(decision) = self.precondition(id).await? {
                return Ok(Some(decision));
            }
        }
        Ok(None)
    }

    /// Evaluates a check right before an effect; none if it holds.
    async fn precondition(&self, id: &str) -> Result<Option<Decision>, NotRead> {
        match id {
            WEDGED => Ok(self.wedged(None).await?.unless_done()),
            POOL_UNCHANGED => self.pool_changed().await,
            POOL_STATE => self.pool_recovered().await,
            FAILING_WRITES => self.writes_succeed().await,
            REPLACEMENT_READY => {
                let replacement =
                    if self.is_rebuilt() { self.name().to_owned() } else { self.temporary() };
                Ok(self.enough_nodes(&replacement).await?.unless_done())
            }
            _ => self.not_recreated().await,
        }
    }

    /// Evaluates the checks of the verdict; done if they all hold.
    ///
    /// An abort by this run ends the retries: `before` is when the checks passed right before it. Failed writes of that time
    /// count until one succeeds.
    pub(crate) async fn wedged(&self, before: Option<Timestamp>) -> Result<Decision, NotRead> {
        read_verdict(self.services, self.view, self.name()).await;
        self.pools().await?;
        self.nodes_of(self.name()).await?;
        let (settings, now) =
            (self.settings_of_verdict(), before.unwrap_or(self.now).max(self.now));
        let mut checks = evaluate(self.view, &settings, now);
        if let Some(before) = before {
            wedge::keep(&mut checks, self.view, &settings, before, now);
        }
        let refused: Vec<_> = checks.iter().filter(|check| !check.allows_run()).collect();
        if refused.is_empty() {
            return Ok(Decision::Done(checks.iter().map(evidence).collect()));
        }
        // Unknown does not block: the run waits, and its timeouts stop it where it can be resumed.
        if refused.iter().all(|check| check.outcome == Outcome::Unknown) {
            let names: Vec<_> = refused.iter().map(|check| check.name.as_str()).collect();
            return Ok(self.wait(format!("for unknown checks: {}", names.join(", "))));
        }
        let text = |check: &&CheckResult| format!("{}: {}", check.name, check.detail());
        let texts: Vec<_> = refused.iter().map(text).collect();
        Ok(self.refused(Reason::CheckFailed, texts.join(" | ")))
    }
}

pub(super) fn evidence(check: &CheckResult) -> String {
    match &check.overridden {
        Some(reason) if check.outcome != Outcome::Pass => {
            format!("{} overridden: {reason}", check.name)
        }
        _ => format!("{}: {}", check.name, check.detail()),
    }
}

/// Makes the reads of the verdict that a view lacks.
pub(crate) async fn read_verdict(services: &impl Services, view: &ClusterView, pool: &str) {
    once(&view.cluster, services.cluster()).await;
    once(&view.pools, services.pools()).await;
    once(&view.scale_sets, services.scale_sets()).await;
    once(&view.events, services.events()).await;
    once(&view.nodes, services.nodes()).await;
    read_scale_set(services, view, pool).await;
}

/// Reads instances and interfaces of the pool's scale set.
pub(super) async fn read_scale_set(services: &impl Services, view: &ClusterView, pool: &str) {
    let Some(set) = view.scale_set_of(pool).map(|set| &set.name) else { return };
    view.instances.once(set, services.instances(set)).await;
    view.nics.once(set, services.nics(set)).await;
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
    use crate::common::target;
    use crate::settings::BudgetPolicy;

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
        matches!(check.when, When::Begin(_) | When::Create(_) | When::BeginIfNeeded(_))
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

    fn defaults() -> Settings {
        Settings::new(target("system"))
    }

    #[test]
    fn override_requires_a_known_check_and_a_reason() {
        let mut settings = defaults();
        settings.add_override("missing-nodes= ticket 7 ").unwrap();
        assert_eq!(settings.overrides["missing-nodes"], "ticket 7");
        let unknown = settings.add_override("all=x").unwrap_err();
        assert!(
            unknown.starts_with("unknown check 'all'; valid checks: missing-nodes, "),
            "{unknown}"
        );
        for without in ["workloads", "workloads= "] {
            let error = settings.add_override(without).unwrap_err();
            assert!(error.ends_with("--override workloads=REASON"), "{error}");
        }
        assert!(settings.add_override("missing-nodes=again").unwrap_err().ends_with("twice"));
    }

    #[test]
    fn pdb_override_sets_the_policy() {
        let mut settings = defaults();
        settings.add_override("pdb=ticket 7").unwrap();
        assert_eq!(settings.budgets, BudgetPolicy::Override("ticket 7".into()));
        assert_eq!(settings.overrides["pdb"], "ticket 7");
        assert!(settings.add_override("operation=x").is_err(), "operations cannot be overridden");
    }
}
