//! Nodes, rates and times of a view.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mooring_controller::claim::image;
use mooring_inventory::status::ClusterStatus;
use mooring_inventory::{
    ClusterFacts, Code, FailureGroup, Filter, Fleet, FleetRow, Inventory, JoinState, Node, groups,
};

use crate::snapshot::Snapshot;
use crate::view::{PageView, Route};

/// Everything that sections show, computed once.
pub(crate) struct PageModel<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) facts: &'a ClusterFacts,
    pub(crate) view: &'a PageView,
    pub(crate) now: Timestamp,
    /// Nodes of the pool and the time, of all images: rates compare with the other images.
    pub(crate) inventory: Inventory,
    pub(crate) fleet: Fleet,
    pub(crate) status: ClusterStatus,
    /// Groups of failures that match the whole view.
    pub(crate) groups: Vec<FailureGroup>,
    /// Usual times to join by pool.
    usual: BTreeMap<String, Usual>,
}

/// Time from creation to joining.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usual {
    pub(crate) median: i64,
    pub(crate) p95: i64,
}

impl<'a> PageModel<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, view: &'a PageView) -> Self {
        let facts = &snapshot.facts;
        let now = facts.now;
        let filter = view.filter(facts);
        let since = filter.since;
        let pool = view.pool().map(str::to_owned);
        let inventory = facts.inventory.filtered(&Filter { since, pool, ..Filter::default() });
        let fleet = Fleet::of(&inventory, since);
        let status = ClusterStatus::of(facts, &inventory, &fleet);
        let mut groups = groups(&facts.inventory.filtered(&filter));
        if let Route::Code(code) = view.route {
            let has_code =
                |found: &Option<Code>| found.as_ref().is_some_and(|one| one.code == code);
            groups.retain(|group| has_code(&group.reported) || has_code(&group.effective));
        }
        Self {
            snapshot,
            facts,
            view,
            now,
            fleet,
            status,
            groups,
            usual: usual_by_pool(&facts.inventory),
            inventory,
        }
    }

    /// Returns failed nodes that match the view, the last first.
    pub(crate) fn failures(&self) -> Vec<&Node> {
        let filter = self.view.filter(self.facts);
        let has_code = |node: &Node| match self.view.route {
            Route::Code(code) => {
                let failure = node.failure.as_ref();
                let codes = failure.into_iter().flat_map(|one| [&one.reported, &one.effective]);
                codes.flatten().any(|found| found.code == code)
            }
            _ => true,
        };
        let nodes = self.inventory.nodes.iter();
        let mut failed: Vec<&Node> = nodes
            .filter(|node| node.is_failed() && filter.matches(node) && has_code(node))
            .collect();
        failed.sort_by(|a, b| (b.at(), a.name()).cmp(&(a.at(), b.name())));
        failed
    }

    /// Returns nodes that are joining and match the view, the oldest first.
    pub(crate) fn joining(&self) -> Vec<&Node> {
        let is_wanted = |node: &&Node| node.state == JoinState::Joining && self.has_image(node);
        let mut joining: Vec<&Node> = self.inventory.nodes.iter().filter(is_wanted).collect();
        joining.sort_by_key(|node| (node.created_at, node.name()));
        joining
    }

    /// Returns true if the view has no image, or the node has it.
    pub(crate) fn has_image(&self, node: &Node) -> bool {
        self.view.image().is_none_or(|wanted| {
            node.image.as_deref().is_some_and(|own| own == wanted || image::version(own) == wanted)
        })
    }

    /// Returns rows of images and causes that match the view.
    pub(crate) fn rows(&self) -> Vec<&FleetRow> {
        let is_wanted = |row: &&FleetRow| {
            let image = self.view.image();
            let cause = self.view.cause();
            image.is_none_or(|image| row.image == image || image::version(&row.image) == image)
                && cause.is_none_or(|cause| row.cause.eq_ignore_ascii_case(cause))
        };
        self.fleet.rows.iter().filter(is_wanted).collect()
    }

    pub(crate) fn usual(&self, pool: Option<&str>) -> Option<Usual> {
        self.usual.get(pool?).copied()
    }

    /// Returns the usual time to join of all nodes in view.
    pub(crate) fn usual_of_all(&self) -> Option<Usual> {
        let joined = self.inventory.nodes.iter().filter(|node| self.has_image(node));
        Usual::of(joined.filter_map(claim_seconds).collect())
    }

    /// Returns the largest group of an image and a cause.
    pub(crate) fn group_of(&self, row: &FleetRow) -> Option<&FailureGroup> {
        let is_same = |group: &&FailureGroup| {
            group.cause == row.cause && group.image.as_deref() == Some(&*row.image)
        };
        self.groups.iter().find(is_same)
    }

    /// Returns the failures of an image, and their median time after launch.
    pub(crate) fn failures_like(&self, node: &Node) -> Option<(usize, i64)> {
        let image = node.image.as_ref()?;
        let like = |other: &&Node| other.image.as_ref() == Some(image);
        let failed = self.inventory.nodes.iter().filter(|other| other.is_failed()).filter(like);
        let mut seconds: Vec<i64> = failed.filter_map(Node::seconds_to_failure).collect();
        seconds.sort_unstable();
        let median = *seconds.get(seconds.len() / 2)?;
        (seconds.len() > 1).then_some((seconds.len(), median))
    }
}

impl Usual {
    fn of(mut seconds: Vec<i64>) -> Option<Self> {
        seconds.sort_unstable();
        let median = *seconds.get(seconds.len() / 2)?;
        let p95 = *seconds.get(seconds.len() * 95 / 100).or(seconds.last())?;
        Some(Self { median, p95 })
    }
}

/// Returns the time to join of a NodeClaim. A Node without one has no time before its creation.
fn claim_seconds(node: &Node) -> Option<i64> {
    node.node_claim.as_ref()?;
    node.seconds_to_join()
}

fn usual_by_pool(inventory: &Inventory) -> BTreeMap<String, Usual> {
    let mut seconds: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for node in &inventory.nodes {
        if let (Some(pool), Some(taken)) = (&node.pool, claim_seconds(node)) {
            seconds.entry(pool.to_string()).or_default().push(taken);
        }
    }
    seconds.into_iter().filter_map(|(pool, all)| Some((pool, Usual::of(all)?))).collect()
}
