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

    pub(crate) fn summary(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut images: Vec<&str> = self.nodes.iter().map(|node| node.image.as_str()).collect();
        images.dedup();
        for image in images {
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
        let kills = self.repair.iter().filter(|moment| moment.what == KILLED).count();
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
        assert!(result.last(NodeEnd::Silent).is_none());
    }
}
