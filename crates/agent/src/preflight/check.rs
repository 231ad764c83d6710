//! What a check is, and what it can find.

use mooring_codes::Owner;

use super::Facts;
use crate::cli::Stage;
use crate::world::World;

/// A check, as data.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    /// What it makes sure of, in half a sentence.
    pub(crate) about: &'static str,
    /// What it needs in order to say anything.
    pub(crate) needs: Need,
    /// The exit code of such a failure; a check without one has none of its own.
    pub(crate) code: Option<i32>,
    pub(crate) audience: Owner,
    pub(super) find: fn(&mut dyn World, &Facts<'_>) -> Finding,
}

/// What a check needs in order to say anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Nothing,
    Config,
    /// A running node, not a mounted image.
    Node,
}

impl Check {
    /// Looks, or says why there is nothing to look at.
    pub(super) fn run(&self, world: &mut dyn World, facts: &Facts<'_>) -> Finding {
        match self.needs {
            Need::Config if !facts.config.is_given() => Finding::skipped("no node config is given"),
            Need::Node if facts.stage == Stage::Image => Finding::skipped("only on a running node"),
            _ => (self.find)(world, facts),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    pub(crate) summary: String,
    /// What was seen, a line each.
    pub(crate) evidence: Vec<String>,
    /// What to do first; empty when all is well.
    pub(crate) action: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Warning,
    Fatal,
    Skipped,
}

impl Verdict {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warning => "warning",
            Self::Fatal => "fatal",
            Self::Skipped => "skipped",
        }
    }
}

impl Finding {
    pub(super) fn pass(summary: impl Into<String>) -> Self {
        Self::new(Verdict::Pass, summary.into(), "")
    }

    pub(super) fn skipped(summary: impl Into<String>) -> Self {
        Self::new(Verdict::Skipped, summary.into(), "")
    }

    pub(super) fn warning(summary: impl Into<String>, action: &'static str) -> Self {
        Self::new(Verdict::Warning, summary.into(), action)
    }

    pub(super) fn fatal(summary: impl Into<String>, action: &'static str) -> Self {
        Self::new(Verdict::Fatal, summary.into(), action)
    }

    fn new(verdict: Verdict, summary: String, action: &'static str) -> Self {
        Self { verdict, summary, evidence: Vec::new(), action }
    }
}
