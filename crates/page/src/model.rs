//! Nodes, rates and times of a view of a snapshot.

use jiff::Timestamp;
use mooring_nodes::status::ClusterStatus;
use mooring_nodes::{
    Adviser, ClusterFacts, Code, Count, DocsUrl, FailureGroup, Filter, Fleet, FleetRow, Inventory,
    JoinState, JoinTimes, Node, Usual, groups, median,
};
use serde::Serialize;

use crate::view::{PageView, Route};

/// Process that serves the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageMode {
    /// The leader of the controller.
    Leader,
    /// A replica that does not lead.
    Follower,
    /// `mooring ui --local`.
    Local,
}

/// Facts of a cluster at one time.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pub facts: ClusterFacts,
    pub mode: PageMode,
    /// None if the page is not served by the controller.
    pub details: Option<ControllerDetails>,
    /// Site of the documents.
    pub docs: DocsUrl,
}

/// Figures that only the controller has.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ControllerDetails {
    pub instance: String,
    pub version: String,
    /// Error of the watches or the API server; none if all work.
    pub error: Option<String>,
    /// NodeClaims with a scheduled read of Azure.
    pub pending: usize,
    /// Reads that wait for the rate limit.
    pub waiting: usize,
    pub azure_requests: u64,
    pub azure_throttled: u64,
    pub azure_reads_left: u64,
}

/// Everything that sections show, computed once.
pub(crate) struct PageModel<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) facts: &'a ClusterFacts,
    pub(crate) view: &'a PageView,
    pub(crate) now: Timestamp,
    /// The pool, the time, the image and the cause of the view.
    pub(crate) filter: Filter,
    /// Nodes of the pool and the time, of all images: rates compare with the other images.
    pub(crate) inventory: Inventory,
    pub(crate) fleet: Fleet,
    pub(crate) status: ClusterStatus,
    pub(crate) adviser: Adviser<'a>,
    /// Groups of failures that match the whole view.
    pub(crate) groups: Vec<FailureGroup>,
    times: JoinTimes,
}

impl<'a> PageModel<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, view: &'a PageView) -> Self {
        let facts = &snapshot.facts;
        let filter = view.filter(facts);
        let all_images = Filter { image: None, cause: None, ..filter.clone() };
        let inventory = facts.inventory.filtered(&all_images);
        let fleet = Fleet::of(&inventory, filter.since);
        let mut groups = groups(&facts.inventory.filtered(&filter));
        groups.retain(|group| has_code(view, [&group.reported, &group.effective]));
        Self {
            snapshot,
            facts,
            view,
            now: facts.now,
            status: ClusterStatus::of(facts, &filter, &inventory, &fleet),
            adviser: Adviser::new(facts),
            fleet,
            groups,
            times: facts.join_times(),
            inventory,
            filter,
        }
    }

    /// Returns failed nodes that match the view, the last first.
    pub(crate) fn failures(&self) -> Vec<&Node> {
        let is_wanted = |node: &&Node| {
            node.failure.as_ref().is_some_and(|one| {
                has_code(self.view, [&one.reported, &one.effective]) && self.filter.matches(node)
            })
        };
        let mut failed: Vec<&Node> = self.inventory.nodes.iter().filter(is_wanted).collect();
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
        self.filter.has_image(node.image.as_deref())
    }

    /// Counts the nodes of the view in a state.
    pub(crate) fn count(&self, state: JoinState) -> Count {
        self.inventory.count_if(state, |node| self.has_image(node))
    }

    /// Returns true if nothing is wrong, and everything that could deny it was read.
    pub(crate) fn is_healthy(&self) -> bool {
        self.status.is_healthy() && self.facts.unasked().is_empty()
    }

    /// Returns rows of images and causes that match the view.
    pub(crate) fn rows(&self) -> Vec<&FleetRow> {
        let is_wanted = |row: &&FleetRow| {
            self.filter.has_image(Some(&row.image)) && self.filter.has_cause(Some(&row.cause))
        };
        self.fleet.rows.iter().filter(is_wanted).collect()
    }

    pub(crate) fn usual(&self, pool: Option<&str>) -> Option<Usual> {
        self.times.usual(pool)
    }

    /// Returns the usual time to join of all nodes in view.
    pub(crate) fn usual_of_all(&self) -> Option<Usual> {
        let joined = self.inventory.nodes.iter().filter(|node| self.has_image(node));
        Usual::of(joined.filter_map(Node::claim_seconds).collect())
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
        let like = |other: &&Node| other.is_failed() && other.image.as_ref() == Some(image);
        let failed = self.inventory.nodes.iter().filter(like);
        let seconds: Vec<i64> = failed.filter_map(Node::seconds_to_failure).collect();
        let count = Some(seconds.len()).filter(|count| *count > 1)?;
        Some((count, median(seconds)?))
    }
}

/// Returns true unless the view is about another code.
fn has_code(view: &PageView, codes: [&Option<Code>; 2]) -> bool {
    match view.route {
        Route::Code(code) => codes.into_iter().flatten().any(|one| one.code == code),
        _ => true,
    }
}
