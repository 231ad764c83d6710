//! The screen of one node.

use jiff::Timestamp;
use mooring_inventory::{Facts, Failure, Node, PoolKind, State, groups};
use mooring_terminal::{Mark, Screen, Text};

use super::answer::{Answer, NodeEntry};
use super::groups::{Rows, code, owner};
use crate::answers::common::{plural, seconds_clock, short_duration, short_image};

/// Returns the first line: the answer.
pub(super) fn sentence(facts: &Facts, entry: &NodeEntry) -> (Mark, String) {
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
        State::Ready => (Mark::Good, format!("{name} has joined {cluster} and is ready.")),
        State::NotReady => {
            (Mark::Warning, format!("{name} has joined {cluster} and is not ready."))
        }
        State::Joining | State::Failed => {
            let since = node.created_at.map_or_else(String::new, |at| {
                let age = facts.now.duration_since(at).as_secs().max(0);
                format!(" for {}", short_duration(age))
            });
            (Mark::Warning, format!("{name} is joining {cluster}{since}.{message}"))
        }
    }
}

pub(super) fn add(screen: &mut Screen, facts: &Facts, answer: &Answer, entry: &NodeEntry) {
    let (mark, text) = sentence(facts, entry);
    screen.sentence(mark, text);
    let node = &entry.node;
    let mut rows = Rows { screen, indent: 2 };
    if let (Some(failure), Some(diagnosis)) = (&node.failure, answer.diagnoses.first()) {
        let code = code(&diagnosis.group).map_or_else(String::new, |code| format!(", {code}"));
        rows.prose("cause", format!("{}{code}", failure.cause));
        for evidence in &failure.evidence {
            rows.literal("evidence", &evidence.line);
        }
        if !failure.is_confirmed {
            rows.prose(
                "source",
                "events only; neither Azure nor the API server shows it".to_owned(),
            );
        }
    }
    rows.prose("where", place(node));
    if let Some(when) = when(node, facts.now) {
        rows.prose("when", when);
    }
    if let Some(failure) = &node.failure {
        rows.prose("like it", similar(facts, node, failure));
        if let Some(owner) = owner(failure.owner.as_deref(), failure.confidence.as_deref()) {
            rows.prose("owner", owner);
        }
        let action = answer.diagnoses.iter().find_map(|one| one.actions.first());
        if let Some(action) = action {
            rows.prose("do first", action.clone());
        }
    }
    if let Some(earlier) = &entry.earlier {
        rows.prose("earlier", earlier_attempt(earlier));
    }
    for (at, next) in answer.next.iter().enumerate() {
        rows.literal(if at == 0 { "next" } else { "" }, &next.command);
    }
    if !node.exists {
        screen.label(
            "Deleted",
            [Text::new("the NodeClaim; these facts are from the failure record")],
        );
    }
}

pub(super) fn earlier_attempt(earlier: &super::answer::Earlier) -> String {
    let code = earlier.code.map_or_else(String::new, |code| format!("exit code {code}, "));
    format!("previous attempt failed ({code}{}): {}", earlier.cause, earlier.message)
}

/// Returns pool, image, VM size and zone; what is not known is left out.
pub(super) fn place(node: &Node) -> String {
    let mut parts = Vec::new();
    match (&node.pool, node.pool_kind) {
        (Some(pool), PoolKind::NodePool) => parts.push(format!("NodePool {pool}")),
        (Some(pool), PoolKind::AksPool) => parts.push(format!("AKS pool {pool}")),
        (None, _) => {}
    }
    if let (Some(_), Some(name)) = (&node.node_claim, &node.node) {
        parts.push(format!("node {name}"));
    }
    parts.extend(node.image.as_deref().map(|image| format!("image {}", short_image(image))));
    parts.extend(node.instance_type.clone());
    parts.extend(node.zone.clone());
    if parts.is_empty() { "unknown".to_owned() } else { parts.join(", ") }
}

fn when(node: &Node, now: Timestamp) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(node.launched_at.map(|at| format!("launched {}", seconds_clock(at, now))));
    if let Some(at) = node.failure.as_ref().and_then(|failure| failure.failed_at) {
        let after = node.seconds_to_failure().map(short_duration);
        let after = after.map_or_else(String::new, |after| format!(" ({after})"));
        parts.push(format!("failed {}{after}", seconds_clock(at, now)));
    } else if let Some(at) = node.joined_at {
        parts.push(format!("joined {}", seconds_clock(at, now)));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Compares with other nodes: the image is suspicious if only its nodes fail.
fn similar(facts: &Facts, node: &Node, failure: &Failure) -> String {
    let all = facts.inventory.filtered(&mooring_inventory::Filter::default());
    let alike = groups(&all).into_iter().filter(|group| group.cause == failure.cause);
    let (mut here, mut others) = (0, 0);
    for group in alike {
        *(if group.image == node.image { &mut here } else { &mut others }) += group.failed;
    }
    let count = |count: usize, more: &str| match count {
        0 => "no node".to_owned(),
        count => plural(count, &format!("{more}node")),
    };
    let here = count(usize::saturating_sub(here, 1), "more ");
    format!("{here} with this image; {} with other images", count(others, ""))
}
