//! The decision of the current step.

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::{Context as Cx, Workflow};

use super::context::{Context, Halt, Unknown};
use super::{installation, objects, reads, remaining};
use crate::cluster::view::{Answer, OperatorView, Query};
use crate::plan::terms::Terms;
use crate::removal::step::Step;
use crate::removal::workflow::{Decision, FinalizerRemoval, Finish};

impl Workflow for FinalizerRemoval {
    type Terms = Terms;
    type Answer = Answer;
    type View = OperatorView;

    /// One round for each object that changed since it was listed.
    const MAX_ROUNDS: usize = 100_000;

    fn deadline(terms: &Terms, began: Timestamp) -> Timestamp {
        began.checked_add(terms.settings.limits.overall).unwrap_or(Timestamp::MAX)
    }

    fn step_limit(_: &Terms, _: Option<Step>) -> Option<SignedDuration> {
        None
    }

    fn poll(terms: &Terms) -> SignedDuration {
        terms.settings.limits.poll
    }

    fn queries(cx: &Cx<'_, Self>) -> Vec<Query> {
        reads::of_step(&Context::new(cx))
    }

    fn decide(cx: &Cx<'_, Self>) -> Result<Decision, Unknown> {
        step(&Context::new(cx)).or_else(Halt::decision)
    }
}

fn step(cx: &Context<'_>) -> Result<Decision, Halt> {
    let Some(step) = cx.run.step() else {
        let left = remaining::remaining(cx)?;
        let finish = if left.is_empty() { Finish::Clean } else { Finish::Leftovers };
        return Ok(Decision::Finish(finish, left));
    };
    let evidence = match step {
        Step::DeleteObjects => objects::delete(cx),
        Step::WaitForTeardown => objects::wait_for_teardown(cx),
        Step::ScaleDown => installation::scale_down(cx),
        Step::RemoveFinalizers => objects::strip(cx),
        Step::DeleteCrds => objects::delete_crds(cx),
        Step::DeleteBindings => installation::bindings(cx),
        Step::DeleteRelease => installation::release(cx),
        Step::DeleteNamespace => installation::namespace(cx),
        Step::Verify => Ok(vec!["all objects were read again".to_owned()]),
    };
    evidence.map(Decision::Done)
}
