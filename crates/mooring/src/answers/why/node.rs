//! The screen of one node.

use jiff::Timestamp;
use mooring_nodes::claim::image::version;
use mooring_nodes::{ClusterFacts, JoinState, Node, NodeFailure, PoolKind, groups};
use mooring_terminal::{Mark, Screen, Text};
use mooring_workflow::Reading;
use mooring_workflow::plural::counted;
use mooring_workflow::published::ClusterIdentity;

use super::answer::{NodeEntry, WhyAnswer};
use super::groups::{Rows, UNCONFIRMED, code, owner};
use crate::answers::common::{add_advice, pools_portal, portal, seconds_clock, short_duration};

/// Returns the first line: the answer.
pub(super) fn sentence(facts: &ClusterFacts, entry: &NodeEntry) -> (Mark, String) {
    let (node, cluster) = (&entry.node, facts.cluster_name());
    let name = node.name();
    if let Some(failure) = &node.failure {
        let summary = &failure.summary;
        let text = match failure.stage {
            "launch" => format!("{name} was not launched in {cluster}: {summary}."),
            "ready" => format!("{name} joined {cluster} and is not ready: {summary}."),
            _ => format!("{name} did not join {cluster}: {summary}."),
        };
        return (Mark::Bad, text);
    }
    let message = entry.message.as_ref().map_or_else(String::new, |text| format!(" {text}"));
    match node.state {
        JoinState::Ready => (Mark::Good, format!("{name} has joined {cluster} and is ready.")),
        JoinState::NotReady => {
            (Mark::Warning, format!("{name} has joined {cluster} and is not ready."))
        }
        JoinState::Joined => {
            (Mark::Warning, format!("{name} has joined {cluster}; if it is ready is not known."))
        }
        JoinState::Joining | JoinState::Failed => {
            let since = node.created_at.map_or_else(String::new, |at| {
                let age = facts.now.duration_since(at).as_secs().max(0);
                format!(" for {}", short_duration(age))
            });
            let late = if entry.is_late { ", far longer than usual" } else { "" };
            let unread = match &node.azure {
                azure if azure.has_failed() => " Azure was not read, so it may have failed.",
                Reading::NotAsked if node.is_undecided() => {
                    " Azure was not asked about it, so it may have failed."
                }
                _ => "",
            };
            let mark = if entry.is_late { Mark::Bad } else { Mark::Warning };
            (mark, format!("{name} is joining {cluster}{since}{late}.{message}{unread}"))
        }
    }
}

pub(super) fn add(
    screen: &mut Screen,
    facts: &ClusterFacts,
    answer: &WhyAnswer,
    entry: &NodeEntry,
) {
    let (mark, text) = sentence(facts, entry);
    screen.sentence(mark, text);
    let node = &entry.node;
    let mut rows = Rows { screen, indent: 2 };
    if let (Some(failure), Some(diagnosis)) = (&node.failure, answer.diagnoses.first()) {
        let code = code(&diagnosis.group).map_or_else(String::new, |code| format!(", {code}"));
        rows.prose("cause", format!("{}{code}", failure.cause));
        rows.each("evidence", failure.evidence.iter().map(|one| &one.line));
        rows.each("source", (!failure.is_confirmed).then_some(UNCONFIRMED));
    }
    rows.text("where", place(node, Some(&facts.identity)));
    rows.each("when", when(node, facts.now));
    if let Some(failure) = &node.failure {
        rows.prose("like it", similar(facts, node, failure));
        rows.each("owner", owner(failure.owner.as_deref(), failure.confidence.as_deref()));
        let action = answer.diagnoses.iter().find_map(|one| one.actions.first());
        add_advice(rows.screen, rows.indent, action);
    }
    rows.each("earlier", entry.earlier.as_ref().map(earlier_attempt));
    rows.commands(&answer.next);
    if !node.exists {
        let (label, text) = if facts.inventory.reads.claims.has_failed() {
            ("Unknown", "NodeClaims were not read; these facts are from the failure record")
        } else {
            ("Deleted", "the NodeClaim; these facts are from the failure record")
        };
        screen.label(label, [Text::new(text)]);
    }
}

pub(super) fn earlier_attempt(earlier: &super::answer::Earlier) -> String {
    let code = earlier.code.map_or_else(String::new, |code| format!("exit code {code}, "));
    format!("previous attempt failed ({code}{}): {}", earlier.cause, earlier.message)
}

/// Returns pool, VM, image, VM size and zone; what is not known is left out. Pools and VMs link to the portal of this cluster.
pub(super) fn place(node: &Node, identity: Option<&ClusterIdentity>) -> Text {
    let mut parts = Vec::new();
    let linked = |before: &str, name: &str, url: Option<String>| match url {
        Some(url) => Text::new(before).link(name, &url),
        None => Text::new(before).plain(name),
    };
    match (&node.pool, node.pool_kind) {
        (Some(pool), PoolKind::NodePool) => parts.push(Text::new(format!("NodePool {pool}"))),
        (Some(pool), PoolKind::AksPool) => {
            parts.push(linked("AKS pool ", pool, identity.and_then(pools_portal)));
        }
        (None, _) => {}
    }
    if let (Some(_), Some(name)) = (&node.node_claim, &node.node) {
        let url = identity.and_then(|identity| portal(identity, node.vm_id.as_deref()));
        parts.push(linked("node ", name, url));
    }
    let image = node.image.as_deref().map(|image| format!("image {}", version(image)));
    parts.extend(image.map(Text::new));
    let others = [&node.instance_type, &node.zone];
    parts.extend(others.into_iter().flatten().map(|one| Text::new(&**one)));
    let mut text = Text::default();
    for (at, part) in parts.into_iter().enumerate() {
        text = if at == 0 { text } else { text.plain(", ") };
        text.append(part);
    }
    if text.is_empty() { Text::new("unknown") } else { text }
}

fn when(node: &Node, now: Timestamp) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(node.launched_at.map(|at| format!("launched {}", seconds_clock(at, now))));
    if let Some(at) = node.failed_at() {
        let after = node.seconds_to_failure().map(short_duration);
        let after = after.map_or_else(String::new, |after| format!(" ({after})"));
        parts.push(format!("failed {}{after}", seconds_clock(at, now)));
        let late = node.failure.as_ref().and_then(|failure| failure.seconds_to_late_report());
        parts.extend(late.map(|late| format!("reported {} later", short_duration(late))));
    } else if node.is_failed() {
        parts.push("failed at an unknown time".to_owned());
    } else if let Some(at) = node.joined_at {
        parts.push(format!("joined {}", seconds_clock(at, now)));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Compares with other nodes: the image is suspicious if only its nodes fail.
fn similar(facts: &ClusterFacts, node: &Node, failure: &NodeFailure) -> String {
    let all = facts.inventory.filtered(&mooring_nodes::Filter::default());
    let alike = groups(&all).into_iter().filter(|group| group.cause == failure.cause);
    let (mut here, mut others) = (0, 0);
    for group in alike {
        *(if group.image == node.image { &mut here } else { &mut others }) += group.failed;
    }
    let count = |count: usize, more: &str| match count {
        0 => "no node".to_owned(),
        count => counted(count, &format!("{more}node")),
    };
    let here = count(usize::saturating_sub(here, 1), "more ");
    format!("{here} with this image; {} with other images", count(others, ""))
}

#[cfg(test)]
mod tests {
    use mooring_terminal::Style;

    use super::*;
    use crate::fixtures;

    #[test]
    fn late_report_is_told() {
        let mut node = fixtures::failed_node("default-a", "X");
        let failed = node.failed_at().unwrap();
        for (seconds, expected) in [(119, None), (47 * 60, Some("reported 47m00s later"))] {
            let reported = failed + jiff::SignedDuration::from_secs(seconds);
            node.failure.as_mut().unwrap().reported_at = Some(reported);
            let shown = when(&node, reported).unwrap();
            assert_eq!(shown.split(", ").find(|part| part.contains("later")), expected, "{shown}");
        }
    }

    #[test]
    fn vm_and_aks_pool_link_to_the_portal() {
        let mut node = fixtures::node("default-a", JoinState::Ready);
        node.image = None;
        node.vm_id = Some("/subscriptions/s/vm".to_owned());
        node.zone = Some("westeurope-1".into());
        let identity = ClusterIdentity {
            id: Some("/subscriptions/s/cluster".to_owned()),
            server: Some("https://x.hcp.westeurope.azmk8s.io:443".to_owned()),
            ..ClusterIdentity::default()
        };
        let style = Style { links: true, ..Style::PIPE };
        let shown = |node: &Node, identity: Option<&ClusterIdentity>| {
            let mut screen = Screen::default();
            screen.line(place(node, identity));
            screen.render(&style)
        };
        let link = |path: &str, name: &str| {
            format!("\x1b]8;;https://portal.azure.com/#resource{path}\x1b\\{name}\x1b]8;;\x1b\\")
        };
        let vm = link("/subscriptions/s/vm", "aks-default-a");
        assert_eq!(
            shown(&node, Some(&identity)),
            format!("NodePool default, node {vm}, westeurope-1\n")
        );
        assert_eq!(shown(&node, None), "NodePool default, node aks-default-a, westeurope-1\n");
        node.pool_kind = PoolKind::AksPool;
        node.node_claim = None;
        let pools = link("/subscriptions/s/cluster/nodePools", "default");
        assert_eq!(shown(&node, Some(&identity)), format!("AKS pool {pools}, westeurope-1\n"));
        (node.pool, node.zone) = (None, None);
        assert_eq!(shown(&node, Some(&identity)), "unknown\n");
    }
}
