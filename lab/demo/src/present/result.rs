//! Results so far, as data for the summary and the report.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::scenario::NodeEnd;

#[derive(Debug, Clone, Default)]
pub(crate) struct ScenarioResult {
    pub(crate) stages: Vec<StageResult>,
    pub(crate) nodes: Vec<NodeResult>,
    /// `mooring fleet -o json`.
    pub(crate) fleet: Option<Value>,
    pub(crate) repair: Vec<Moment>,
    /// The plan that was approved last.
    pub(crate) plan: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct StageResult {
    pub(crate) title: String,
    pub(crate) took: Duration,
}

#[derive(Debug, Clone)]
pub(crate) struct NodeResult {
    pub(crate) vm: String,
    pub(crate) claim: String,
    pub(crate) image: String,
    /// Its directory, if it was actually booted.
    pub(crate) root: Option<PathBuf>,
    pub(crate) end: NodeEnd,
    pub(crate) failure: Option<NodeFailure>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeFailure {
    /// What the bootstrap ended with.
    pub(crate) code: String,
    /// Message of the condition on the NodeClaim.
    pub(crate) cause: String,
}

/// An event during the repair of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Time since the wedge.
    pub(crate) at: Duration,
    /// Name of a step or of a fault.
    pub(crate) what: String,
    pub(crate) detail: String,
    pub(crate) kind: MomentKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MomentKind {
    Step,
    Fault,
    Good,
}

impl ScenarioResult {
    pub(crate) fn last(&self, end: NodeEnd) -> Option<&NodeResult> {
        self.nodes.iter().rev().find(|node| node.end == end)
    }

    fn images(&self) -> Vec<&str> {
        let mut images: Vec<&str> = self.nodes.iter().map(|node| node.image.as_str()).collect();
        images.dedup();
        images
    }

    /// Says what was seen, in sentences.
    pub(crate) fn conclusion(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for image in self.images() {
            let nodes: Vec<_> = self.nodes.iter().filter(|node| node.image == image).collect();
            let failures: Vec<_> = nodes.iter().filter_map(|node| node.failure.as_ref()).collect();
            let silent = nodes.iter().filter(|node| node.end == NodeEnd::Silent).count();
            if let Some(first) = failures.first() {
                sentences.push(format!(
                    "Image {image}: {} of {} nodes failed. Their bootstrap ended with {}. The condition on the NodeClaim says: {}",
                    failures.len(), nodes.len(), first.code, first.cause,
                ));
            } else if silent > 0 {
                sentences.push(format!(
                    "Image {image}: the bootstrap of {silent} of {} nodes succeeded, and no Node registered.",
                    nodes.len()
                ));
            } else {
                sentences.push(format!("Image {image}: {0} of {0} nodes joined.", nodes.len()));
            }
        }
        if let Some(end) = self.repair.iter().rfind(|moment| moment.kind == MomentKind::Good) {
            let kills = self.kills();
            let kills = if kills == 0 {
                String::new()
            } else {
                format!(" The repair was killed {}, and went on where it was.", times(kills))
            };
            sentences.push(format!("In the end, {}.{kills}", end.detail));
        } else if let Some(end) = self.repair.iter().rfind(|moment| moment.what == "stopped") {
            sentences.push(format!("The repair stopped and changed nothing more: {}", end.detail));
        }
        sentences
    }

    fn kills(&self) -> usize {
        self.repair.iter().filter(|moment| moment.what == KILLED).count()
    }

    pub(crate) fn summary(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for image in self.images() {
            let of = |end| {
                let nodes = self.nodes.iter();
                nodes.filter(|node| node.image == image && node.end == end).count()
            };
            let counts = [
                (of(NodeEnd::Joined), "joined"),
                (of(NodeEnd::Failed), "failed"),
                (of(NodeEnd::Silent), "bootstrapped and never joined"),
            ];
            let counts: Vec<String> = counts
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, word)| format!("{count} {word}"))
                .collect();
            lines.push(format!("image {image}: {}", counts.join(", ")));
        }
        if let Some(sentence) =
            self.fleet.as_ref().and_then(|f| f["findings"][0]["message"].as_str())
        {
            lines.push(format!("fleet verdict: {sentence}"));
        }
        let kills = self.kills();
        if let Some(healed) = self.repair.iter().rfind(|moment| moment.kind == MomentKind::Good) {
            let times = match kills {
                0 => String::new(),
                1 => " after one kill -9".to_owned(),
                n => format!(" after {n} kills"),
            };
            lines.push(format!("{}{times}", healed.detail));
        }
        lines
    }
}

/// `once`, `twice`, `3 times`.
fn times(number: usize) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{number} times"),
    }
}

/// Label of the moment in which the repair was killed.
pub(crate) const KILLED: &str = "killed";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_counts_by_image_and_lists_repairs() {
        let node = |image: &str, end| NodeResult {
            vm: "aks-x".into(),
            claim: "x".into(),
            image: image.into(),
            root: None,
            end,
            failure: (end == NodeEnd::Failed).then(|| NodeFailure {
                code: "211 ERR_ORAS_PULL_NETWORK_TIMEOUT".into(),
                cause: "oras is missing on the image.".into(),
            }),
        };
        let moment = |what: &str, detail: &str, kind| Moment {
            at: Duration::ZERO,
            what: what.into(),
            detail: detail.into(),
            kind,
        };
        let result = ScenarioResult {
            nodes: vec![
                node("202601.13.0", NodeEnd::Joined),
                node("202601.27.0", NodeEnd::Failed),
                node("202601.27.0", NodeEnd::Failed),
            ],
            repair: vec![
                moment(KILLED, "", MomentKind::Fault),
                moment("healed", "pool system is repaired", MomentKind::Good),
            ],
            ..ScenarioResult::default()
        };
        assert_eq!(
            result.summary(),
            [
                "image 202601.13.0: 1 joined",
                "image 202601.27.0: 2 failed",
                "pool system is repaired after one kill -9"
            ]
        );
        assert_eq!(
            result.conclusion(),
            [
                "Image 202601.13.0: 1 of 1 nodes joined.",
                "Image 202601.27.0: 2 of 2 nodes failed. Their bootstrap ended with 211 \
                 ERR_ORAS_PULL_NETWORK_TIMEOUT. The condition on the NodeClaim says: oras is missing on the image.",
                "In the end, pool system is repaired. The repair was killed once, and went on where it was.",
            ]
        );
        assert!(result.last(NodeEnd::Silent).is_none());
    }
}
