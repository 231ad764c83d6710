//! Snapshots for tests: a morning on which NodePool `default` rolls to an image without oras, a large cluster, and text that
//! attacks the page.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::record;
use mooring_nodes::record::counts;
use mooring_nodes::{
    AksPool, ClusterFacts, Code, ControllerState, DocsUrl, Evidence, Inventory, JoinState,
    Karpenter, Node, NodeFailure, PoolKind, Reads,
};
use mooring_workflow::Reading;
use mooring_workflow::published::{ClusterIdentity, Source, SourceName, SourceState};

use crate::{PageMode, Snapshot};

pub(crate) const GOOD: &str = "AKSUbuntu/2204gen2containerd/202601.13.0";
pub(crate) const BAD: &str = "AKSUbuntu/2204gen2containerd/202601.27.0";
pub(crate) const EVIDENCE: &str =
    "timeout: failed to run command 'oras': No such file or directory";

pub(crate) fn now() -> Timestamp {
    "2026-11-17T09:14:05Z".parse().unwrap()
}

pub(crate) fn before(seconds: i64) -> Timestamp {
    now().checked_sub(SignedDuration::from_secs(seconds)).unwrap()
}

/// Returns a node that was created some seconds ago and is joining.
pub(crate) fn joining(name: &str, pool: &str, image: &str, seconds: i64) -> Node {
    Node {
        uid: format!("uid-{name}"),
        node_claim: Some(name.to_owned()),
        node: Some(format!("aks-{name}")),
        pool: Some(pool.into()),
        pool_kind: PoolKind::NodePool,
        image: Some(image.into()),
        node_class: Some("default".into()),
        instance_type: Some("Standard_D8s_v5".into()),
        zone: Some("westeurope-1".into()),
        state: JoinState::Joining,
        exists: true,
        created_at: Some(before(seconds)),
        launched_at: (seconds > 31).then(|| before(seconds - 31)),
        azure: Reading::Known(()),
        ..Node::default()
    }
}

/// Returns a node that joined some seconds ago, after `taken` seconds.
pub(crate) fn joined(name: &str, pool: &str, image: &str, seconds: i64, taken: i64) -> Node {
    Node {
        state: JoinState::Ready,
        node_created_at: Some(before(seconds + 22)),
        joined_at: Some(before(seconds)),
        ready_at: Some(before(seconds - 5)),
        launched_at: Some(before(seconds + taken - 31)),
        ..joining(name, pool, image, seconds + taken)
    }
}

pub(crate) fn failure(seconds: i64) -> NodeFailure {
    NodeFailure {
        cause: "OrasBinaryMissing".to_owned(),
        summary: "oras is missing on the image".to_owned(),
        condition_reason: "CSEFailed".to_owned(),
        message: "CSE exited with code 232".to_owned(),
        reported: Some(Code { code: 211, name: Some("ERR_ORAS_PULL_NETWORK_TIMEOUT".to_owned()) }),
        effective: Some(Code { code: 232, name: Some("ERR_ORAS_BINARY_NOT_FOUND".to_owned()) }),
        stage: "bootstrap",
        owner: Some("image".to_owned()),
        confidence: Some("high".to_owned()),
        evidence: vec![Evidence { line: EVIDENCE.to_owned(), file: None, source: "record" }],
        is_confirmed: true,
        failed_at: Some(before(seconds)),
        reported_at: None,
    }
}

/// Returns a node that failed some seconds ago.
pub(crate) fn failed(name: &str, pool: &str, image: &str, seconds: i64, exists: bool) -> Node {
    Node {
        state: JoinState::Failed,
        exists,
        launched_at: Some(before(seconds + 72)),
        failure: Some(failure(seconds).into()),
        ..joining(name, pool, image, seconds + 105)
    }
}

fn source(name: SourceName, seconds: f64) -> Source {
    Source {
        state: SourceState::Read,
        at: Some(now()),
        seconds: Some(seconds),
        ..Source::new(name)
    }
}

pub(crate) fn snapshot(nodes: Vec<Node>) -> Snapshot {
    let mut nodes = nodes;
    nodes.sort_by(|a, b| (a.at(), a.name()).cmp(&(b.at(), b.name())));
    let controller = ControllerState {
        state: "running",
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        replicas: Some(2),
        ready_replicas: Some(2),
        leader: Some("mooring-6c9f7d-x2x8k-1".to_owned()),
        renewed_at: Some(before(1)),
        ..ControllerState::unknown("mooring-system".to_owned())
    };
    let facts = ClusterFacts {
        identity: ClusterIdentity {
            name: Some("prod-weu".to_owned()),
            context: Some("prod-weu-admin".to_owned()),
            ..ClusterIdentity::default()
        },
        region: Some("westeurope".to_owned()),
        version: Some("v1.33.6".to_owned()),
        inventory: Inventory {
            nodes: nodes.into_iter().collect(),
            reads: Reads::complete(),
            ..Inventory::default()
        },
        karpenter: Karpenter { has_versions: Some(true), ..Karpenter::default() },
        has_karpenter: true,
        lost: Vec::new(),
        controller,
        record: Some(record::RecordDocument::default().into()),
        runs: Vec::new(),
        sources: vec![
            source(SourceName::Cluster, 0.2),
            source(SourceName::Record, 0.1),
            source(SourceName::Azure, 0.9),
        ],
        warnings: Vec::new(),
        now: now(),
    };
    Snapshot { facts, mode: PageMode::Leader, details: None, docs: DocsUrl::default() }
}

/// 84 nodes joined, then 37 failed on a new image, and 4 are joining.
pub(crate) fn morning() -> Snapshot {
    let mut nodes = Vec::new();
    for number in 0..84 {
        let name = format!("default-g{number:03}");
        nodes.push(joined(&name, "default", GOOD, 15_000 + number * 760, 110 + number % 7 * 12));
    }
    for number in 0..37 {
        let name = format!("default-b{number:02}");
        nodes.push(failed(&name, "default", BAD, 63 + number * 395, number < 3));
    }
    for (name, seconds) in [("default-hq7tm", 63), ("default-w2c9d", 24), ("default-kx4bp", 9)] {
        nodes.push(joining(name, "default", BAD, seconds));
    }
    for number in 0..8 {
        let name = format!("gpu-{number}");
        nodes.push(joined(&name, "gpu", GOOD, 900 + number * 5000, 330 + number * 12));
    }
    nodes.push(joining("gpu-5nnxq", "gpu", GOOD, 400));
    for number in 0..14 {
        let node = joined(&format!("aks-user-{number}"), "user", GOOD, 90_000 + number * 60, 0);
        nodes.push(Node { node_claim: None, pool_kind: PoolKind::AksPool, ..node });
    }
    let mut snapshot = snapshot(nodes);
    let mut counts = counts::CountsDocument::new(before(4 * 86_400));
    let outcomes: Vec<counts::CountedNode> = (0..60)
        .map(|number| {
            let at = before(16_000 + number * 1100);
            counts::CountedNode::new(&format!("c{number}"), at, "default", GOOD, None)
        })
        .collect();
    counts.merge(&outcomes, now());
    let user =
        AksPool { name: "user".to_owned(), wanted: Some(14), state: Some("Succeeded".to_owned()) };
    snapshot.facts.inventory.aks_pools = vec![user];
    snapshot.facts.inventory.counts = Some(Arc::new(counts));
    snapshot
}

/// The same cluster before the new image.
pub(crate) fn healthy() -> Snapshot {
    let mut snapshot = morning();
    snapshot.facts.inventory.nodes.retain(|node| node.image.as_deref() == Some(GOOD));
    snapshot
}

/// The same cluster without a controller, as a user reads it.
pub(crate) fn local() -> Snapshot {
    let mut snapshot = morning();
    snapshot.facts.inventory.nodes.retain(|node| node.exists);
    snapshot.facts.record = None;
    snapshot.facts.inventory.reads.record = Reading::NotFound;
    snapshot.facts.sources[1] =
        Source { state: SourceState::Absent, ..Source::new(SourceName::Record) };
    snapshot.facts.controller = ControllerState {
        state: "not-running",
        ..ControllerState::unknown("mooring-system".to_owned())
    };
    (snapshot.facts.inventory.counts, snapshot.mode) = (None, PageMode::Local);
    snapshot
}

/// Markup, quotes, a mark that reverses the text and an escape sequence of terminals.
pub(crate) const HOSTILE: &str =
    "<script>window.evil = 1</script><img src=x onerror='window.evil = 2'>\"'\u{202e}\u{1b}[2J";

/// A cluster whose names, images, causes and evidence are hostile.
pub(crate) fn hostile() -> Snapshot {
    let mut nodes: Vec<_> = (0..8)
        .map(|number| joined(&format!("g{number}"), HOSTILE, GOOD, 900 + number, 100))
        .collect();
    nodes.push(joining(&format!("j{HOSTILE}"), HOSTILE, HOSTILE, 40));
    for number in 0..6 {
        let mut node = failed(&format!("{number}{HOSTILE}"), HOSTILE, HOSTILE, 100 + number, true);
        if let Some(failure) = &mut node.failure {
            failure.cause = format!("Cause{HOSTILE}");
            HOSTILE.clone_into(&mut failure.message);
            failure.owner = Some(HOSTILE.to_owned());
            failure.evidence =
                vec![Evidence { line: HOSTILE.to_owned(), file: None, source: "record" }];
        }
        nodes.push(node);
    }
    let mut snapshot = snapshot(nodes);
    snapshot.facts.identity.name = Some(HOSTILE.to_owned());
    snapshot.facts.region = Some(HOSTILE.to_owned());
    snapshot.facts.controller.leader = Some(HOSTILE.to_owned());
    snapshot.facts.warnings = vec![HOSTILE.to_owned()];
    snapshot
}

/// A cluster with 5,000 nodes, of which 200 are joining, and 1,000 failures of 70 causes in 120 pools.
pub(crate) fn large() -> Snapshot {
    let pool = |number: i64| format!("pool-{:03}", number % 120);
    let mut nodes: Vec<_> = (0..4800)
        .map(|number| {
            let name = format!("{}-n{number:05}", pool(number));
            joined(&name, &pool(number), GOOD, 100 + number, 90)
        })
        .collect();
    for number in 0..1000 {
        let name = format!("{}-f{number:04}", pool(number));
        let mut node = failed(&name, &pool(number), BAD, 60 + number * 80, false);
        if let Some(failure) = &mut node.failure {
            failure.cause = format!("Cause{:02}", number % 70);
        }
        nodes.push(node);
    }
    for number in 0..200 {
        nodes.push(joining(&format!("j{number}"), "pool-001", BAD, number + 5));
    }
    snapshot(nodes)
}
