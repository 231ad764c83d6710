//! The state of a run, and its texts.

use mooring_workflow::status::{Describe, EffectStatus, OverrideStatus, Remaining, Subject};
use mooring_workflow::{EffectResult, Phase};
use serde::Serialize;

use crate::removal::effect::{Effect, why_not};
use crate::removal::step::Step;
use crate::removal::workflow::{FinalizerRemoval, Finish, Leftover, RemovalRun as _, Run};

/// Result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemovalVerdict {
    Clean,
    Acted,
    Leftovers,
    /// No run was started.
    Refused,
    /// `resume` continues the run.
    Interrupted,
}

impl RemovalVerdict {
    pub fn of(run: &Run) -> Self {
        match run.phase {
            Phase::Finished(Finish::Leftovers) => Self::Leftovers,
            Phase::Finished(Finish::Clean) if run.acted() => Self::Acted,
            Phase::Finished(Finish::Clean) => Self::Clean,
            Phase::Running | Phase::Aborting => Self::Interrupted,
        }
    }
}

impl Describe for FinalizerRemoval {
    fn subject(run: &Run) -> Subject {
        Subject::Profile(run.session.profile.name.clone())
    }

    fn plan_hash(run: &Run) -> String {
        run.session.plan.to_string()
    }

    /// The durations depend on the number of objects.
    fn expected_seconds(_: Step) -> Option<u32> {
        None
    }

    /// Nothing is rolled back; backups of finalizers are in the journal.
    fn point_of_no_return() -> Option<Step> {
        None
    }

    fn is_past_return(run: &Run) -> bool {
        run.acted()
    }

    fn finished_state(run: &Run, finish: Finish) -> &'static str {
        match finish {
            Finish::Leftovers => "partially-removed",
            Finish::Clean if run.acted() => "removed",
            Finish::Clean => "nothing-to-do",
        }
    }

    fn effect(effect: &Effect, result: Option<&EffectResult>) -> EffectStatus {
        EffectStatus {
            at: None,
            what: format!("{} {}", effect.verb(), effect.target()),
            removed: match effect {
                Effect::Strip { removed, .. } => removed.clone(),
                _ => Vec::new(),
            },
            error: result.and_then(|result| why_not(effect, result)),
        }
    }

    /// Overrides are part of the plan, which the journal has by its hash only.
    fn overrides(_: &Run) -> Vec<OverrideStatus> {
        Vec::new()
    }

    fn remaining(run: &Run) -> Vec<Remaining> {
        let remaining = |left: &Leftover| {
            let place = left.namespace.as_ref().map(|one| format!("{one}/")).unwrap_or_default();
            Remaining {
                what: format!("{} {place}{}", left.resource, left.name),
                explanation: Some(left.why.clone()),
                finalizers: left.finalizers.clone(),
            }
        };
        run.left.iter().map(remaining).collect()
    }
}
