//! Checks and their results.

use mooring_codes::Owner;

use super::facts::PreflightFacts;
use crate::cli::PreflightStage;
use crate::world::World;

pub struct PreflightCheck {
    pub name: &'static str,
    pub about: &'static str,
    pub(super) needs: CheckNeed,
    /// Exit code of its failure, if it has a specific one.
    pub code: Option<i32>,
    pub audience: Owner,
    pub(super) find: fn(&mut dyn World, &PreflightFacts<'_>) -> PreflightFinding,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckNeed {
    Nothing,
    Config,
    /// A running node, not a mounted image.
    Node,
}

impl PreflightCheck {
    /// Returns who acts on a finding: the builder of an image, but on a node its operator.
    pub(super) fn audience(&self, stage: PreflightStage) -> &'static str {
        match (self.audience, stage) {
            (Owner::Image, PreflightStage::Node) => Owner::Operator.as_str(),
            (owner, _) => owner.as_str(),
        }
    }

    /// Runs the check, or returns the reason for skipping it.
    pub(super) fn run(
        &self,
        world: &mut dyn World,
        facts: &PreflightFacts<'_>,
    ) -> PreflightFinding {
        match self.needs {
            CheckNeed::Config if !facts.config.is_given() => {
                PreflightFinding::skipped("no node config is given")
            }
            CheckNeed::Node if facts.stage == PreflightStage::Image => {
                PreflightFinding::skipped("only on a running node")
            }
            _ => (self.find)(world, facts),
        }
    }
}

pub(crate) type Result = (&'static PreflightCheck, PreflightFinding);

pub(crate) fn run(
    world: &mut dyn World,
    facts: &PreflightFacts<'_>,
    checks: impl IntoIterator<Item = &'static PreflightCheck>,
) -> Vec<Result> {
    checks.into_iter().map(|check| (check, check.run(world, facts))).collect()
}

/// The finding that decides, if one is fatal.
pub(crate) fn first_fatal(results: &[Result]) -> Option<&Result> {
    results.iter().find(|(_, finding)| finding.verdict == PreflightVerdict::Fatal)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PreflightFinding {
    pub(crate) verdict: PreflightVerdict,
    pub(crate) summary: String,
    /// Evidence, one line each.
    pub(crate) evidence: Vec<String>,
    /// Remedy; empty for success.
    pub(crate) action: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PreflightVerdict {
    Pass,
    Warning,
    Fatal,
    Skipped,
}

impl PreflightVerdict {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warning => "warning",
            Self::Fatal => "fatal",
            Self::Skipped => "skipped",
        }
    }
}

impl PreflightFinding {
    pub(super) fn pass(summary: impl Into<String>) -> Self {
        Self::new(PreflightVerdict::Pass, summary.into(), "")
    }

    pub(super) fn skipped(summary: impl Into<String>) -> Self {
        Self::new(PreflightVerdict::Skipped, summary.into(), "")
    }

    pub(super) fn warning(summary: impl Into<String>, action: &'static str) -> Self {
        Self::new(PreflightVerdict::Warning, summary.into(), action)
    }

    pub(super) fn fatal(summary: impl Into<String>, action: &'static str) -> Self {
        Self::new(PreflightVerdict::Fatal, summary.into(), action)
    }

    fn new(verdict: PreflightVerdict, summary: String, action: &'static str) -> Self {
        Self { verdict, summary, evidence: Vec::new(), action }
    }
}
