//! The pool or node that a name refers to.

use mooring_nodes::{ClusterFacts, Inventory, Karpenter, Node, PoolKind};
use mooring_redact::{identifier, shell_word};
use mooring_workflow::published::{SourceName, SourceState};

use crate::answers::common::not_found;
use crate::cluster::Reports;
use crate::output::failure::CommandFailure;
use mooring_terminal::suggest;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WhySubject {
    Cluster,
    Pool {
        name: String,
        kind: PoolKind,
    },
    /// The uid of a node.
    Node(String),
    /// Neither the cluster nor the record has this name.
    Unknown(String),
}

impl WhySubject {
    /// Finds a node by any of its names, then a pool.
    pub(super) fn find(name: Option<&str>, inventory: &Inventory, karpenter: &Karpenter) -> Self {
        let Some(name) = name else { return Self::Cluster };
        // The last one, if the name was used before.
        let named = inventory.nodes.iter().filter(|node| node.is_named(name));
        if let Some(node) = named.max_by_key(|node| (node.exists, node.at())) {
            return Self::Node(node.uid.clone());
        }
        let of_pool = |node: &&Node| node.pool.as_deref() == Some(name);
        let kind = match inventory.nodes.iter().find(of_pool) {
            _ if karpenter.pool(name).is_some() => PoolKind::NodePool,
            Some(node) => node.pool_kind,
            None => return Self::Unknown(name.to_owned()),
        };
        Self::Pool { name: name.to_owned(), kind }
    }
}

/// Returns the subject of a name that only Azure has.
pub(super) fn resolve(
    name: &str,
    facts: &ClusterFacts,
    reports: &Reports,
) -> Result<WhySubject, CommandFailure> {
    match reports.iter().next() {
        Some((_, report)) if report.pool.as_deref() == Some(name) => {
            Ok(WhySubject::Pool { name: name.to_owned(), kind: PoolKind::AksPool })
        }
        Some((uid, _)) => Ok(WhySubject::Node(uid.clone())),
        None => Err(unknown(name, facts)),
    }
}

fn unknown(name: &str, facts: &ClusterFacts) -> CommandFailure {
    let known = known_names(facts);
    let similar = suggest::similar(name, known.iter().map(|(name, _)| name.as_str()));
    let kind = |name: &str| known.iter().find(|(one, _)| one == name).map_or("", |(_, kind)| kind);
    let named: Vec<String> =
        similar.iter().map(|name| format!("`{name}` ({})", kind(name))).collect();
    let hint = match named.as_slice() {
        [] => {
            "hint: `mooring status` lists pools; use POOL/INSTANCE for an instance of an AKS pool"
                .to_owned()
        }
        [one] => format!("hint: did you mean {one}?   mooring why {}", shell_word(similar[0])),
        [first @ .., last] => format!("hint: did you mean {} or {last}?", first.join(", ")),
    };
    let sources = [SourceName::Cluster, SourceName::Record, SourceName::Azure];
    let is_unread = |source: &SourceName| facts.source_state(*source) == SourceState::Failed;
    // What was not read may have it.
    let (read, places) = if sources.iter().any(is_unread) {
        (" that was read", "")
    } else {
        ("", ", now or in the failure record")
    };
    let (cluster, name) = (facts.cluster_name(), identifier(name));
    let karpenter = if facts.has_karpenter { "" } else { "; Karpenter is not installed" };
    let text = format!("nothing{read} in {cluster} is called `{name}`{places}{karpenter}");
    not_found(&text, &hint, !named.is_empty(), facts, &sources)
}

/// Returns names with their kinds: pools first.
fn known_names(facts: &ClusterFacts) -> Vec<(String, &'static str)> {
    let mut known: Vec<(String, &'static str)> = Vec::new();
    known.extend(facts.karpenter.pool_names().map(|name| (name.to_owned(), "NodePool")));
    let nodes = &facts.inventory.nodes;
    known.extend(
        nodes
            .iter()
            .filter_map(|node| Some((node.pool.as_ref()?.to_string(), node.pool_kind.as_str()))),
    );
    known.extend(nodes.iter().filter_map(|node| Some((node.node_claim.clone()?, "NodeClaim"))));
    known.extend(nodes.iter().filter_map(|node| Some((node.node.clone()?, "node"))));
    known
}

#[cfg(test)]
mod tests {
    use mooring_nodes::ConditionReason;
    use mooring_nodes::JoinState;

    use super::*;
    use crate::fixtures;

    fn node(claim: Option<&str>, name: &str, pool: &str, exists: bool) -> Node {
        let kind = if claim.is_some() { PoolKind::NodePool } else { PoolKind::AksPool };
        Node {
            uid: format!("{name}-{exists}"),
            node_claim: claim.map(str::to_owned),
            node: Some(name.to_owned()),
            pool: Some(pool.into()),
            pool_kind: kind,
            instance_id: claim.is_none().then(|| "3".to_owned()),
            state: JoinState::Ready,
            exists,
            ..Node::default()
        }
    }

    #[test]
    fn name_of_azure_is_that_of_a_pool_or_a_vm() {
        let facts = fixtures::facts([]);
        let report = fixtures::report("aks-x-1", Some("x"), ConditionReason::CseRunning);
        let reports = Reports::from([("vm/aks-x-1".to_owned(), report)]);
        let pool = WhySubject::Pool { name: "x".to_owned(), kind: PoolKind::AksPool };
        assert_eq!(resolve("x", &facts, &reports).unwrap(), pool);
        let vm = WhySubject::Node("vm/aks-x-1".to_owned());
        assert_eq!(resolve("aks-x-1", &facts, &reports).unwrap(), vm);
        assert!(resolve("x", &facts, &Reports::new()).is_err());
    }

    #[test]
    fn unknown_name_has_suggestions_or_the_reason_of_azure() {
        let mut facts = fixtures::facts([fixtures::node("defaults-1", JoinState::Ready)]);
        let text = |facts: &ClusterFacts, name: &str| {
            let failure = unknown(name, facts);
            (failure.code(), failure.text().lines().last().unwrap().to_owned())
        };
        let one = "hint: did you mean `aks-defaults-1` (node)?   mooring why aks-defaults-1";
        assert_eq!(text(&facts, "aks-defaults-2"), ("not-found", one.to_owned()));
        let two = "hint: did you mean `default` (NodePool), `defaults-1` (NodeClaim) or `aks-defaults-1` (node)?";
        assert_eq!(text(&facts, "defaults"), ("not-found", two.to_owned()));
        let list =
            "hint: `mooring status` lists pools; use POOL/INSTANCE for an instance of an AKS pool";
        assert_eq!(text(&facts, "x"), ("not-found", list.to_owned()));
        let azure = facts.sources.last_mut().unwrap();
        azure.error = Some("no response".to_owned());
        assert_eq!(text(&facts, "x").0, "not-found", "Azure was read");
        facts.sources.last_mut().unwrap().state = SourceState::Failed;
        assert_eq!(text(&facts, "x"), ("io", list.to_owned()));
        assert!(unknown("x", &facts).text().contains("; Azure was not read: no response\n"));
        assert_eq!(text(&facts, "defaults"), ("not-found", two.to_owned()), "it is a typo");
        let record = &mut facts.sources[1];
        (record.state, record.error) = (SourceState::Failed, Some("not allowed".to_owned()));
        let failure = unknown("x", &facts);
        let expected = "nothing that was read in demo is called `x`; the failure record was not read: not allowed\n";
        assert!(failure.text().contains(expected), "{}", failure.text());
    }

    #[test]
    fn every_name_of_a_node_finds_the_same_node() {
        let nodes = [
            node(Some("default-a"), "aks-default-a", "default", false),
            node(Some("default-a"), "aks-default-a", "default", true),
            node(None, "aks-system-1-vmss000003", "system", true),
        ];
        let nodes = nodes.into_iter().collect();
        let inventory = Inventory { nodes, ..Inventory::default() };
        let karpenter = fixtures::karpenter(["empty"]);
        let find = |name: &str| WhySubject::find(Some(name), &inventory, &karpenter);
        let claim = WhySubject::Node("aks-default-a-true".to_owned());
        for name in ["default-a", "aks-default-a", "default/default-a", "default/aks-default-a"] {
            assert_eq!(find(name), claim, "{name}");
        }
        let instance = WhySubject::Node("aks-system-1-vmss000003-true".to_owned());
        assert_eq!(find("system/3"), instance);
        assert_eq!(find("aks-system-1-vmss000003"), instance);
        assert_eq!(find("system/4"), WhySubject::Unknown("system/4".to_owned()));
        let pool = |name: &str, kind| WhySubject::Pool { name: name.to_owned(), kind };
        assert_eq!(find("system"), pool("system", PoolKind::AksPool));
        assert_eq!(find("default"), pool("default", PoolKind::NodePool));
        assert_eq!(find("empty"), pool("empty", PoolKind::NodePool));
        assert_eq!(WhySubject::find(None, &inventory, &karpenter), WhySubject::Cluster);
    }
}
