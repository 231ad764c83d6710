//! The facts of an answer, as in schema `mooring.why/v1`.

use jiff::Timestamp;
use mooring_diagnosis::{cause_page, find_codes};
use mooring_nodes::claim::image;
use mooring_nodes::record::FailureRecord;
use mooring_nodes::status::{ClusterStatus, LostNode};
use mooring_nodes::{
    Advice, Adviser, ClusterFacts, Count, FailureGroup, Filter, Fleet, FleetRow, Inventory,
    JoinState, JoinTimes, Listed, Mitigation, Node, NodeReport, PoolKind, Share, groups,
};
use mooring_redact::{is_plain_word, shell_word};
use mooring_workflow::published::Next;
use serde::Serialize;

use super::subject::WhySubject;
use crate::answers::arguments::ReadArguments;
use crate::answers::common::filter;
use crate::cluster::{ConnectedCluster, Reports};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WhyAnswer {
    pub(super) subject: SubjectName,
    pub(super) since: Option<Timestamp>,
    pub(super) failed: Count,
    pub(super) joining: Count,
    pub(super) joined: Count,
    /// Failures by cause, image and pool, the largest group first.
    pub(super) diagnoses: Listed<Diagnosis>,
    /// Nodes that did not join or are not ready; for one node, that node.
    pub(super) nodes: Listed<NodeEntry>,
    #[serde(rename = "nodesWithoutProviderID")]
    pub(super) lost: Listed<LostNode>,
    pub(super) mitigations: Listed<Mitigation>,
    pub(super) next: Vec<Next>,
    /// Time of the last node that joined.
    #[serde(skip)]
    pub(super) last_joined_at: Option<Timestamp>,
    /// The selected nodes, with what was read of them.
    #[serde(skip)]
    pub(super) selected: Inventory,
    /// The kind of the pool that was named.
    #[serde(skip)]
    pub(super) kind: Option<PoolKind>,
    /// What `status` says of the pools; none for one node.
    #[serde(skip)]
    pub(super) status: Option<ClusterStatus>,
}

#[derive(Debug, Serialize)]
pub(super) struct SubjectName {
    /// Null for the whole cluster.
    pub(super) name: Option<String>,
    /// `cluster`, `node-pool`, `aks-pool` or `node`.
    pub(super) kind: &'static str,
}

/// A group of failures, and what can be done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Diagnosis {
    /// The code of the cause.
    pub(super) code: Option<i32>,
    #[serde(flatten)]
    pub(super) group: FailureGroup,
    /// Failures with this cause on this image, in the whole cluster; null if not comparable.
    pub(super) here: Option<Share>,
    /// The same on other images.
    pub(super) others: Option<Share>,
    pub(super) actions: Vec<Advice>,
    pub(super) next: Vec<Next>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NodeEntry {
    #[serde(flatten)]
    pub(super) node: Node,
    pub(super) os: Option<&'static str>,
    pub(super) has_joined: bool,
    /// State in Azure; null if it was not asked.
    pub(super) message: Option<String>,
    /// Failure of an earlier attempt on the same node.
    pub(super) earlier: Option<Earlier>,
    /// True for a finished bootstrap without a Node.
    #[serde(skip)]
    is_unregistered: bool,
    /// True if it is joining for far longer than usual.
    #[serde(skip)]
    pub(super) is_late: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Earlier {
    pub(super) cause: String,
    pub(super) code: Option<i32>,
    pub(super) message: String,
}

impl WhyAnswer {
    pub(super) fn new(
        cluster: &ConnectedCluster,
        subject: &WhySubject,
        selected: &Inventory,
        reports: &Reports,
        arguments: &ReadArguments,
    ) -> Self {
        let facts = &cluster.facts;
        let mut filter = filter(arguments, facts);
        let since = filter.since;
        let all = facts.inventory.filtered(&Filter { since, ..Filter::default() });
        let fleet = Fleet::of(&all, since);
        let is_single = matches!(subject, WhySubject::Node(_));
        let times = facts.join_times();
        let is_listed = |node: &&Node| is_single || node.is_failed() || !node.has_joined();
        let listed = selected.nodes.iter().filter(is_listed);
        let nodes: Vec<NodeEntry> = listed
            .map(|node| NodeEntry::new(node, reports.get(&node.uid), facts, &times))
            .collect();
        let adviser = Adviser::new(facts);
        let diagnoses: Vec<Diagnosis> = groups(selected)
            .into_iter()
            .map(|group| diagnosis(group, &fleet, &adviser, subject))
            .collect();
        let (pool, kind) = match subject {
            WhySubject::Pool { name, kind } => (Some(name.as_str()), Some(*kind)),
            _ => (None, None),
        };
        filter.pool = pool.map(str::to_owned).or(filter.pool);
        let of_selected = Fleet::of(selected, since);
        let status =
            (!is_single).then(|| ClusterStatus::of(facts, &filter, selected, &of_selected));
        // What was not read of other nodes says nothing of one.
        let failed = match nodes.first().filter(|_| is_single) {
            Some(entry) => Count::of(usize::from(entry.node.is_failed()), !entry.is_unknown()),
            None => of_selected.failed,
        };
        let of_node = selected.nodes.iter().find_map(|node| node.pool.as_deref());
        let mitigations = match subject {
            WhySubject::Node(_) => of_node.map(|pool| facts.karpenter.mitigations(Some(pool))),
            _ => Some(facts.karpenter.mitigations(pool)),
        };
        let joining = of_selected.joining;
        let has_all_failures = failed.exact().is_some();
        let joined = || selected.nodes.iter().filter(|node| node.has_joined() && !node.is_failed());
        Self {
            subject: SubjectName::new(subject, selected),
            since: since.filter(|_| !is_single),
            failed,
            joining,
            joined: selected.joined(),
            mitigations: mitigations.unwrap_or_else(|| Listed::of(Vec::new(), true)),
            next: next(subject, &nodes, &diagnoses, reports, cluster, status.as_ref()),
            diagnoses: Listed::of(diagnoses, has_all_failures),
            nodes: Listed::of(nodes, has_all_failures && joining.exact().is_some()),
            lost: LostNode::all(facts, |of| pool.is_none_or(|pool| of == pool)),
            last_joined_at: joined().filter_map(|node| node.joined_at).max(),
            selected: selected.clone(),
            kind,
            status,
        }
    }

    pub(super) fn is_single(&self) -> bool {
        self.subject.kind == "node"
    }

    /// Returns the node that was named.
    pub(super) fn single(&self) -> Option<&NodeEntry> {
        self.nodes.first().filter(|_| self.is_single())
    }

    /// Returns true if something failed, is late, or is unknown.
    pub(super) fn is_wrong(&self) -> bool {
        let is_wrong =
            |node: &NodeEntry| node.is_unregistered || node.is_late || node.is_unreadable();
        let has_lost = !self.is_single() && !self.lost.is_empty();
        self.failed.is_some()
            || has_lost
            || self.status.as_ref().is_some_and(ClusterStatus::is_wrong)
            || (self.is_single() && self.nodes.iter().any(is_wrong))
    }

    /// Returns what is wrong with pools apart from failures of their nodes.
    pub(super) fn problems(&self) -> Vec<&str> {
        self.status.iter().flat_map(ClusterStatus::problems).collect()
    }

    /// Returns the listed nodes of a group.
    pub(super) fn of_group<'a>(
        &'a self,
        group: &'a FailureGroup,
    ) -> impl Iterator<Item = &'a Node> {
        let is_of = move |node: &&Node| {
            node.failure.as_ref().is_some_and(|failure| failure.cause == group.cause)
                && (&node.image, &node.pool) == (&group.image, &group.pool)
        };
        self.nodes.iter().map(|entry| &entry.node).filter(is_of)
    }
}

impl SubjectName {
    fn new(subject: &WhySubject, selected: &Inventory) -> Self {
        let (name, kind) = match subject {
            WhySubject::Cluster | WhySubject::Unknown(_) => (None, "cluster"),
            WhySubject::Pool { name, kind: PoolKind::NodePool } => {
                (Some(name.clone()), "node-pool")
            }
            WhySubject::Pool { name, .. } => (Some(name.clone()), "aks-pool"),
            WhySubject::Node(_) => {
                (selected.nodes.first().map(|node| node.name().to_owned()), "node")
            }
        };
        Self { name, kind }
    }
}

impl NodeEntry {
    fn new(
        node: &Node,
        report: Option<&NodeReport>,
        facts: &ClusterFacts,
        times: &JoinTimes,
    ) -> Self {
        let entries = facts.record.iter().flat_map(|record| record.entries());
        let recorded = entries.filter(|entry| is_earlier(node, entry)).max_by_key(|entry| entry.at);
        let from_record = recorded.map(|entry| Earlier {
            cause: entry.cause.clone(),
            code: entry.code,
            message: entry.message.clone(),
        });
        let from_node = report.and_then(|report| report.earlier.as_ref()).map(|failure| Earlier {
            cause: failure.cause.clone(),
            code: failure.code,
            message: failure.sentence.clone(),
        });
        Self {
            os: node.os(),
            has_joined: node.has_joined(),
            message: report.map(NodeReport::message),
            earlier: from_node.or(from_record),
            is_unregistered: report.is_some_and(|report| {
                report.is_failed() && report.verdict.failure.is_none() && !node.is_failed()
            }),
            is_late: times.is_late(node),
            node: node.clone(),
        }
    }

    /// Returns true if its outcome is not known.
    fn is_unknown(&self) -> bool {
        self.node.is_undecided() || self.node.state == JoinState::Joined
    }

    /// Returns true if its outcome is not known, because a source could not be read.
    pub(super) fn is_unreadable(&self) -> bool {
        self.node.state == JoinState::Joined
            || (self.node.is_undecided() && self.node.azure.has_failed())
    }
}

/// Returns true for a recorded failure of the same node, other than the one that it has now.
fn is_earlier(node: &Node, entry: &FailureRecord) -> bool {
    let is_same = node.uid == entry.uid || node.node.as_deref() == Some(&*entry.node);
    let is_shown = node.failure.as_ref().is_some_and(|failure| failure.cause == entry.cause);
    is_same && node.exists && !is_shown
}

fn diagnosis(
    group: FailureGroup,
    fleet: &Fleet,
    adviser: &Adviser<'_>,
    subject: &WhySubject,
) -> Diagnosis {
    let is_same = |row: &&FleetRow| {
        Some(&*row.image) == group.image.as_deref()
            && row.cause == group.cause
            && group.is_confirmed
    };
    let row = fleet.rows.iter().find(is_same);
    let code = group.effective.as_ref().or(group.reported.as_ref()).map(|code| code.code);
    let mut next = explain(&group, code);
    // Other names cannot be pools of Kubernetes.
    let pool = group.pool.as_ref().filter(|pool| is_plain_word(pool));
    if let (WhySubject::Cluster, Some(pool)) = (subject, pool) {
        let command = format!("mooring why {}", shell_word(pool));
        next.insert(0, Next::new(command, "nodes of the pool"));
    }
    Diagnosis {
        code,
        here: row.map(|row| row.here),
        others: row.map(|row| row.others),
        actions: adviser.advise(&group),
        next,
        group,
    }
}

/// Returns the command that explains a code or a cause. An image that is not a plain word is omitted.
fn explain(group: &FailureGroup, code: Option<i32>) -> Vec<Next> {
    let version = group.image.as_deref().map(image::version).filter(|image| is_plain_word(image));
    let version = version.map_or_else(String::new, |image| format!(" --image {image}"));
    let is_cause = || cause_page(&group.cause).is_some() || !find_codes(&group.cause).is_empty();
    let command = match code {
        Some(code) => format!("mooring explain {code}{version}"),
        None if is_cause() => format!("mooring explain {}", shell_word(&group.cause)),
        None => return Vec::new(),
    };
    vec![Next::new(command, "cause and next steps")]
}

fn next(
    subject: &WhySubject,
    nodes: &[NodeEntry],
    diagnoses: &[Diagnosis],
    reports: &Reports,
    cluster: &ConnectedCluster,
    status: Option<&ClusterStatus>,
) -> Vec<Next> {
    let wedged = "mooring repair detect";
    let of_pools = status.iter().flat_map(|status| &status.next);
    let mut next: Vec<Next> =
        of_pools.filter(|next| next.command.starts_with(wedged)).cloned().collect();
    if let (WhySubject::Node(uid), Some(entry)) = (subject, nodes.first()) {
        next.extend(diagnoses.iter().flat_map(|one| one.next.iter().cloned()));
        let pool = entry.node.pool.as_ref().filter(|pool| is_plain_word(pool));
        if let Some(pool) = pool.filter(|_| entry.node.is_failed()) {
            let command = format!("mooring why {}", shell_word(pool));
            next.push(Next::new(command, "all nodes of the pool"));
        }
        if next.is_empty() {
            let name = entry.node.name();
            let group = cluster.scope.as_ref().map(|scope| scope.node_resource_group.as_str());
            let command = reports.get(uid).and_then(|report| report.next(name, group));
            next.extend(command.map(|command| Next::new(command, "more evidence")));
        }
        let name = entry.node.name();
        if entry.node.state != JoinState::Ready && is_plain_word(name) {
            let command = format!("mooring bundle {}", shell_word(name));
            next.push(Next::new(command, "all evidence of the node in an archive"));
        }
    } else if !diagnoses.is_empty() {
        next.push(Next::new("mooring fleet", "failures by image and cause"));
    }
    next
}
