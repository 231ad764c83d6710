//! What has happened so far, as data: the end and the report are told from it.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

#[derive(Debug, Clone, Default)]
pub(crate) struct Story {
    pub(crate) chapters: Vec<ChapterTold>,
    pub(crate) nodes: Vec<NodeTold>,
    /// `mooring fleet -o json`.
    pub(crate) fleet: Option<Value>,
    pub(crate) repair: Vec<Moment>,
    /// The plan that was approved last.
    pub(crate) plan: Option<String>,
}

/// A chapter that came true.
#[derive(Debug, Clone)]
pub(crate) struct ChapterTold {
    pub(crate) title: String,
    pub(crate) took: Duration,
}

/// A node that was booted.
#[derive(Debug, Clone)]
pub(crate) struct NodeTold {
    pub(crate) vm: String,
    pub(crate) claim: String,
    pub(crate) image: String,
    /// Its folder, if it was really booted.
    pub(crate) root: Option<PathBuf>,
    pub(crate) end: NodeEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeEnd {
    Joined,
    Failed,
    /// Its bootstrap succeeded, and no node appeared.
    Silent,
}

/// Something that happened while a pool was repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moment {
    /// How long after the pool was struck.
    pub(crate) at: Duration,
    /// A step's name, or what struck.
    pub(crate) what: String,
    pub(crate) detail: String,
    pub(crate) kind: MomentKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MomentKind {
    Step,
    Trouble,
    Good,
}

impl Story {
    pub(crate) fn last(&self, end: NodeEnd) -> Option<&NodeTold> {
        self.nodes.iter().rev().find(|node| node.end == end)
    }

    /// What happened, in a few lines.
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
            self.fleet.as_ref().and_then(|f| f["findings"][0]["sentence"].as_str())
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

/// What a moment is called in which the repair was killed.
pub(crate) const KILLED: &str = "killed";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_counts_by_image_and_names_what_was_healed() {
        let node = |image: &str, end| NodeTold {
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
        let story = Story {
            nodes: vec![
                node("202601.13.0", NodeEnd::Joined),
                node("202601.27.0", NodeEnd::Failed),
                node("202601.27.0", NodeEnd::Failed),
            ],
            repair: vec![
                moment(KILLED, "", MomentKind::Trouble),
                moment("healed", "pool system is healed", MomentKind::Good),
            ],
            ..Story::default()
        };
        assert_eq!(
            story.summary(),
            [
                "image 202601.13.0: 1 joined",
                "image 202601.27.0: 2 failed",
                "pool system is healed after one kill -9"
            ]
        );
        assert!(story.last(NodeEnd::Silent).is_none());
    }
}
