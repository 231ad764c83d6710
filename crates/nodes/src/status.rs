//! Content of the documents `mooring.status/v1` and `mooring.fleet/v1`.

use mooring_workflow::plural::counted;
use mooring_workflow::published::Next;
use mooring_workflow::status::RunStatus;
use serde::Serialize;

use crate::advice::{Advice, Adviser};
use crate::claim::image;
use crate::count::Listed;
use crate::facts::{ClusterFacts, ControllerState};
use crate::fleet::{Fleet, FleetRow, groups};
use crate::karpenter::Mitigation;
use crate::merge::Inventory;
use crate::node::Filter;
use crate::pool::{Pool, PoolState, pools};
use crate::unregistered::UnregisteredNode;

pub const STATUS_SCHEMA: &str = "mooring.status/v1";
pub const FLEET_SCHEMA: &str = "mooring.fleet/v1";

/// Something that is wrong, or that deserves attention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusFinding {
    /// `run-unfinished`, `node-without-provider-id`, `image-fails`, `nodes-fail`, `pool-degraded`, `nodes-late`,
    /// `nodes-not-ready`, `mitigation`, `source-not-read`, `controller-missing`, `controller-late` or `controller-unknown`.
    pub kind: &'static str,
    /// `error` or `warning`.
    pub severity: &'static str,
    pub message: String,
    /// What to do first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<Advice>,
}

impl StatusFinding {
    pub fn error(kind: &'static str, message: String) -> Self {
        Self { kind, severity: "error", message, advice: None }
    }

    pub fn warning(kind: &'static str, message: String) -> Self {
        Self { kind, severity: "warning", message, advice: None }
    }

    fn advise(self, advice: Option<Advice>) -> Self {
        Self { advice, ..self }
    }
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    pub findings: Vec<StatusFinding>,
    pub pools: Listed<Pool>,
    pub controller: ControllerState,
    pub next: Vec<Next>,
}

impl ClusterStatus {
    /// `inventory` and `fleet` are those of the filter.
    pub fn of(facts: &ClusterFacts, filter: &Filter, inventory: &Inventory, fleet: &Fleet) -> Self {
        let pools = pools(inventory, fleet, &facts.join_times());
        let pools = Listed::of(pools, inventory.reads.has_all_nodes());
        let is_wanted = |run: &&RunStatus| {
            let is_of_pool = |pool: &String| pool == run.subject.name();
            run.step.is_some() && filter.pool.as_ref().is_none_or(is_of_pool)
        };
        let runs: Vec<&RunStatus> = facts.runs.iter().filter(is_wanted).collect();
        Self {
            findings: findings(facts, filter, inventory, fleet, &pools, &runs),
            next: next(inventory, facts, &pools, &runs),
            pools,
            controller: facts.controller.clone(),
        }
    }

    /// Returns true if something failed, is late, or is unknown.
    pub fn is_wrong(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == "error")
            || self.pools.iter().any(|pool| pool.state == PoolState::Unknown)
    }

    /// Returns what is wrong with pools, apart from failures of their nodes.
    pub fn problems(&self) -> impl Iterator<Item = &str> {
        let findings = self.findings.iter();
        let of_pools = findings.filter(|one| ["pool-degraded", "nodes-late"].contains(&one.kind));
        of_pools.map(|finding| finding.message.as_str())
    }

    /// Returns true if nothing is wrong, as far as all sources show.
    pub fn is_healthy(&self) -> bool {
        self.findings.is_empty() && self.pools.iter().all(|pool| pool.state == PoolState::Healthy)
    }
}

/// Returns the sentence about an image that is at fault.
pub fn image_fails(row: &FleetRow) -> String {
    let FleetRow { here, others, .. } = row;
    format!(
        "Image {} fails with {} on {} of {} nodes, other images on {} of {}.",
        image::version(&row.image),
        row.cause,
        here.failed,
        here.nodes,
        others.failed,
        others.nodes
    )
}

fn degraded(pools: &[Pool]) -> impl Iterator<Item = &Pool> {
    pools.iter().filter(|pool| pool.state == PoolState::Degraded)
}

fn pool_finding(pool: &Pool) -> Option<StatusFinding> {
    let message = pool.finding()?;
    Some(match pool.state {
        PoolState::Degraded => StatusFinding::error("pool-degraded", message),
        PoolState::NotReady => StatusFinding::warning("nodes-not-ready", message),
        _ => StatusFinding::error("nodes-late", message),
    })
}

fn run_finding(run: &RunStatus) -> Option<StatusFinding> {
    let step = run.step.as_ref()?;
    let state = if run.is_stopped() { "was stopped" } else { "is in progress" };
    let pool = run.subject.name();
    let (number, count, name) = (step.number, run.step_count, step.name);
    let since = step.started_at.strftime("%H:%M");
    let message = format!(
        "The repair of pool {pool} {state}: step {number} of {count}, {name}, since {since} UTC."
    );
    let severity = if run.is_stopped() { "error" } else { "warning" };
    Some(StatusFinding { kind: "run-unfinished", severity, message, advice: None })
}

fn findings(
    facts: &ClusterFacts,
    filter: &Filter,
    inventory: &Inventory,
    fleet: &Fleet,
    pools: &[Pool],
    runs: &[&RunStatus],
) -> Vec<StatusFinding> {
    let mut runs: Vec<StatusFinding> = runs.iter().filter_map(|run| run_finding(run)).collect();
    runs.sort_by_key(|finding| finding.severity != "error");
    let is_wanted = |pool: &String| filter.pool.as_ref().is_none_or(|wanted| wanted == pool);
    let lost =
        facts.lost.iter().filter(|node| is_wanted(&node.pool)).map(UnregisteredNode::finding);
    let lost = lost.map(|text| StatusFinding::error("node-without-provider-id", text));
    let adviser = Adviser::new(facts);
    let images = fleet.findings().map(|row| {
        let first = adviser.of_row(inventory, row).into_iter().next();
        StatusFinding::error("image-fails", image_fails(row)).advise(first)
    });
    let mut found: Vec<StatusFinding> = runs.into_iter().chain(lost).chain(images).collect();
    let blamed: Vec<(&str, &str)> =
        fleet.findings().map(|row| (row.image.as_str(), row.cause.as_str())).collect();
    for group in groups(inventory) {
        let key = (group.image.as_deref().unwrap_or_default(), group.cause.as_str());
        if blamed.contains(&key) || !group.is_confirmed {
            continue;
        }
        let pool = group.pool.as_deref().unwrap_or("no pool");
        let nodes = counted(group.failed, "node");
        let message = format!("{nodes} of pool {pool} failed: {}.", group.cause);
        let first = adviser.advise(&group).into_iter().next();
        found.push(StatusFinding::error("nodes-fail", message).advise(first));
    }
    found.extend(pools.iter().filter_map(pool_finding));
    let mitigations = facts.karpenter.mitigations(None).into_iter();
    found.extend(mitigations.map(|one| {
        StatusFinding::warning("mitigation", one.message).advise(Some(Advice::undo(one.undo)))
    }));
    let unread = facts.unread_of(inventory, None).into_iter();
    found.extend(unread.map(|text| StatusFinding::warning("source-not-read", text.to_owned())));
    found.extend(controller_finding(facts));
    found
}

fn controller_finding(facts: &ClusterFacts) -> Option<StatusFinding> {
    let controller = &facts.controller;
    let (kind, message) = match controller.state {
        "unknown" => (
            "controller-unknown",
            "The state of the controller was not read: failures may not be recorded.".to_owned(),
        ),
        "not-running" => (
            "controller-missing",
            "No controller is running: failures of deleted nodes are not recorded.".to_owned(),
        ),
        "late" => {
            let since = controller.renewed_at;
            let since = since.map_or_else(|| "an unknown time".to_owned(), |at| at.to_string());
            ("controller-late", format!("The controller did not renew its Lease since {since}."))
        }
        _ => return None,
    };
    Some(StatusFinding::warning(kind, message))
}

fn next(
    inventory: &Inventory,
    facts: &ClusterFacts,
    pools: &[Pool],
    runs: &[&RunStatus],
) -> Vec<Next> {
    let mut next = Vec::new();
    for run in runs {
        let pool = mooring_redact::shell_word(run.subject.name());
        let command = format!("mooring repair status --pool {pool}");
        next.push(Next::new(command, "progress of the repair"));
    }
    for pool in degraded(pools).take(2) {
        let command =
            format!("mooring repair detect --pool {}", mooring_redact::shell_word(&pool.name));
        next.push(Next::new(command, "signs of a wedged pool"));
    }
    let late = pools.iter().filter(|pool| pool.state == PoolState::Late);
    for pool in late.take(2) {
        let command = format!("mooring why {}", mooring_redact::shell_word(&pool.name));
        next.push(Next::new(command, "nodes that are late"));
    }
    let mut pools: Vec<_> = groups(inventory).into_iter().filter_map(|group| group.pool).collect();
    pools.dedup();
    for pool in pools.iter().take(2) {
        let command = format!("mooring why {}", mooring_redact::shell_word(pool));
        next.push(Next::new(command, "failed nodes of the pool"));
    }
    if !pools.is_empty() {
        next.push(Next::new("mooring fleet", "failures by image and cause"));
    }
    if facts.has_karpenter && facts.controller.state == "not-running" {
        next.push(Next::new("mooring doctor controller", "commands that install it"));
    }
    next
}

/// An image that is at fault, and what can be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageFinding {
    pub image: String,
    pub cause: String,
    pub message: String,
    pub actions: Vec<Advice>,
}

impl ImageFinding {
    /// Returns the images that are at fault.
    pub fn all(facts: &ClusterFacts, inventory: &Inventory, fleet: &Fleet) -> Vec<Self> {
        let adviser = Adviser::new(facts);
        let finding = |row: &FleetRow| Self {
            image: row.image.clone(),
            cause: row.cause.clone(),
            message: image_fails(row),
            actions: adviser.of_row(inventory, row),
        };
        fleet.findings().map(finding).collect()
    }
}

/// A Node without a providerID.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostNode {
    pub node: String,
    pub pool: String,
    pub message: String,
}

impl LostNode {
    /// Returns those of some pools.
    pub fn all(facts: &ClusterFacts, is_wanted: impl Fn(&str) -> bool) -> Listed<Self> {
        let lost = |node: &UnregisteredNode| {
            let (node, pool, message) = (node.name.clone(), node.pool.clone(), node.finding());
            is_wanted(&pool).then_some(Self { node, pool, message })
        };
        let lost = facts.lost.iter().filter_map(lost).collect();
        Listed::of(lost, facts.inventory.reads.nodes.is_read())
    }
}

#[derive(Debug, Serialize)]
pub struct FleetContent<'a> {
    #[serde(flatten)]
    fleet: &'a Fleet,
    /// None if there may be some.
    findings: Option<&'a [ImageFinding]>,
    mitigations: Listed<Mitigation>,
    #[serde(rename = "nodesWithoutProviderID")]
    lost: Listed<LostNode>,
}

impl<'a> FleetContent<'a> {
    pub fn new(facts: &ClusterFacts, fleet: &'a Fleet, findings: &'a [ImageFinding]) -> Self {
        let is_known = !findings.is_empty() || fleet.failed.exact().is_some();
        Self {
            fleet,
            findings: is_known.then_some(findings),
            mitigations: facts.karpenter.mitigations(None),
            lost: LostNode::all(facts, |_| true),
        }
    }
}
