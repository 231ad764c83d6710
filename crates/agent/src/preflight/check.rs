//! Checks and their results.

use mooring_codes::Owner;

use super::facts::Facts;
use crate::cli::Stage;
use crate::world::World;

pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) needs: Need,
    /// Exit code of its failure, if it has a specific one.
    pub(crate) code: Option<i32>,
    pub(crate) audience: Owner,
    pub(super) find: fn(&mut dyn World, &Facts<'_>) -> Finding,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Nothing,
    Config,
    /// A running node, not a mounted image.
    Node,
}

impl Check {
    /// Runs the check, or returns the reason for skipping it.
    pub(super) fn run(&self, world: &mut dyn World, facts: &Facts<'_>) -> Finding {
        match self.needs {
            Need::Config if !facts.config.is_given() => Finding::skipped("no node config is given"),
            Need::Node if facts.stage == Stage::Image => Finding::skipped("only on a running node"),
            _ => (self.find)(world, facts),
        }
    }
}

pub(crate) type Result = (&'static Check, Finding);

pub(crate) fn run(
    world: &mut dyn World,
    facts: &Facts<'_>,
    checks: impl IntoIterator<Item = &'static Check>,
) -> Vec<Result> {
    checks.into_iter().map(|check| (check, check.run(world, facts))).collect()
}

/// The finding that decides, if one is fatal.
pub(crate) fn first_fatal(results: &[Result]) -> Option<&Result> {
    results.iter().find(|(_, finding)| finding.verdict == Verdict::Fatal)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    pub(crate) summary: String,
    /// Evidence, one line each.
    pub(crate) evidence: Vec<String>,
    /// Remedy; empty for success.
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
