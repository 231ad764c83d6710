//! What a run may do: the command line's settings, and what the plan that was approved for it covers.

use std::collections::BTreeSet;

use super::plan::Plan;
use super::settings::Settings;
use super::target::Target;
use crate::checks::OPERATOR_GONE;

/// See the module. Nothing of it comes from a journal.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The settings that the plan was made with.
    pub settings: Settings,
    /// Paths of everything that the plan deletes, strips or scales down.
    covered: BTreeSet<String>,
}

impl Terms {
    /// Returns the terms of an approved plan.
    #[must_use]
    pub fn new(settings: Settings, plan: &Plan) -> Self {
        Self { settings, covered: plan.targets.iter().map(|one| one.path.clone()).collect() }
    }

    /// Returns true if the plan is about this object, or about one that was there before it under the same name.
    pub fn covers(&self, target: &Target) -> bool {
        self.covered.contains(&target.path)
    }

    /// Returns true if the operator was not shown to be gone, and the reason to act all the same was approved.
    pub(crate) fn ignores_operator(&self) -> bool {
        self.settings.overrides.contains_key(OPERATOR_GONE)
    }
}
