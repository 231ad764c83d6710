//! The decision of the current step.

use super::context::{Context, Halt, Unknown};
use super::{installation, leftovers, objects, reads};
use crate::step::Step;
use crate::view::Query;
use crate::workflow::{Decision, FinalizerRemoval, Finish};

type Cx<'a> = mooring_workflow::Context<'a, FinalizerRemoval>;

/// What the decision depends on.
pub(crate) fn queries(cx: &Cx<'_>) -> Vec<Query> {
    reads::of_step(&Context::new(cx))
}

/// The one thing to do now.
pub(crate) fn decide(cx: &Cx<'_>) -> Result<Decision, Unknown> {
    step(&Context::new(cx)).or_else(Halt::decision)
}

fn step(cx: &Context<'_>) -> Result<Decision, Halt> {
    let Some(step) = cx.run.step() else {
        let left = leftovers::leftovers(cx)?;
        let finish = if left.is_empty() { Finish::Clean } else { Finish::Leftovers };
        return Ok(Decision::Finish(finish, left));
    };
    let proof = match step {
        Step::DeleteObjects => objects::delete(cx),
        Step::AwaitTeardown => objects::await_teardown(cx),
        Step::ScaleDown => installation::scale_down(cx),
        Step::StripFinalizers => objects::strip(cx),
        Step::DeleteDefinitions => objects::delete_definitions(cx),
        Step::DeleteBindings => installation::bindings(cx),
        Step::DeleteRelease => installation::release(cx),
        Step::DeleteNamespace => installation::namespace(cx),
        Step::Verify => Ok(vec!["everything was looked at again".to_owned()]),
    };
    proof.map(Decision::Done)
}
