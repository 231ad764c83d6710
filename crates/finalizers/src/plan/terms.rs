//! Settings of the command line, and objects of the approved plan.

use std::collections::{BTreeMap, BTreeSet};

use super::Plan;
use crate::checks::OPERATOR_GONE;
use crate::operator::settings::Settings;
use crate::operator::target::Target;

/// Limits of a run. Nothing comes from a journal.
#[derive(Debug, Clone)]
pub struct Terms {
    pub settings: Settings,
    /// Uids of all objects that the plan changes, by path. An object that was recreated since has another one.
    covered: BTreeMap<String, BTreeSet<String>>,
    /// Uids of all objects that the plan deletes, also with their namespace.
    named: BTreeSet<String>,
}

impl Terms {
    #[must_use]
    pub fn new(settings: Settings, plan: &Plan) -> Self {
        let mut covered: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for Target { path, uid, .. } in &plan.targets {
            covered.entry(path.clone()).or_default().insert(uid.clone());
        }
        let inside = plan.contents.iter().map(|one| one.target.uid.clone());
        let named = inside.chain(plan.targets.iter().map(|one| one.uid.clone())).collect();
        Self { settings, covered, named }
    }

    /// Returns true if the plan has this object, by path and uid.
    pub fn covers(&self, target: &Target) -> bool {
        self.covered.get(&target.path).is_some_and(|uids| uids.contains(&target.uid))
    }

    /// Uids of all objects that the plan names.
    pub(crate) fn named(&self) -> &BTreeSet<String> {
        &self.named
    }

    /// Returns true if `operator-gone` is overridden.
    pub(crate) fn ignores_operator(&self) -> bool {
        self.settings.overrides.contains_key(OPERATOR_GONE)
    }
}
