//! Texts and times of a run for its status.

use mooring_workflow::status::{Describe, EffectStatus, OverrideStatus, Remaining, Subject};
use mooring_workflow::{Effect as _, EffectResult};

use crate::plan::Step;
use crate::workflow::effects::Effect;
use crate::workflow::{Finish, PoolRepair, RepairRun as _, Run};

impl Describe for PoolRepair {
    fn subject(run: &Run) -> Subject {
        Subject::Pool(run.pool().to_owned())
    }

    fn plan_hash(run: &Run) -> String {
        run.session.plan.token().to_string()
    }

    fn expected_seconds(step: Step) -> Option<u32> {
        Some(step.expected_seconds())
    }

    fn point_of_no_return() -> Option<Step> {
        Some(Step::DeletePool)
    }

    fn is_past_return(run: &Run) -> bool {
        run.deletion().is_some() || run.has_done(Step::DeletePool)
    }

    fn finished_state(_: &Run, finish: Finish) -> &'static str {
        match finish {
            Finish::Repaired => "repaired",
            Finish::NothingToDo => "nothing-to-do",
            Finish::Refused => "blocked",
            Finish::Aborted => "aborted",
        }
    }

    fn effect(effect: &Effect, result: Option<&EffectResult>) -> EffectStatus {
        let error = result.and_then(|result| match result {
            EffectResult::Refused { status, code, message, .. } => {
                Some(format!("HTTP {status} {code}: {message}"))
            }
            EffectResult::Unknown { why } => Some(format!("no response ({why})")),
            _ => None,
        });
        EffectStatus { at: None, what: effect.key(), removed: Vec::new(), error }
    }

    fn overrides(run: &Run) -> Vec<OverrideStatus> {
        let overrides = run.session.settings().overrides.into_iter();
        overrides.map(|(check, comment)| OverrideStatus { check, comment }).collect()
    }

    fn remaining(run: &Run) -> Vec<Remaining> {
        let left = if run.is_finished() { run.left.clone() } else { run.losses() };
        let remaining = |what| Remaining { what, explanation: None, finalizers: Vec::new() };
        left.into_iter().map(remaining).collect()
    }
}
