//! Settings of the command line, and objects of the approved plan.

use std::collections::BTreeSet;

use super::Plan;
use crate::checks::OPERATOR_GONE;
use crate::operator::settings::Settings;
use crate::operator::target::Target;

/// Limits of a run. Nothing comes from a journal.
#[derive(Debug, Clone)]
pub struct Terms {
    pub settings: Settings,
    /// Paths of all objects that the plan changes.
    covered: BTreeSet<String>,
}

impl Terms {
    #[must_use]
    pub fn new(settings: Settings, plan: &Plan) -> Self {
        Self { settings, covered: plan.targets.iter().map(|one| one.path.clone()).collect() }
    }

    /// Returns true if the plan has an object with this path.
    pub fn covers(&self, target: &Target) -> bool {
        self.covered.contains(&target.path)
    }

    /// Returns true if `operator-gone` is overridden.
    pub(crate) fn ignores_operator(&self) -> bool {
        self.settings.overrides.contains_key(OPERATOR_GONE)
    }
}
