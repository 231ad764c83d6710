//! `mooring finalizers plan`, and the plan of a change.

use mooring_finalizers::plan::Plan;
use mooring_workflow::Outcome;
use mooring_workflow::approval::ApprovalToken;

use super::arguments::PlanOutput;
use super::session::{self, FinalizerSession};
use super::{exit, show};
use crate::output::failure::CommandFailure;

impl FinalizerSession {
    /// Creates a plan from live state, with the expiry of the approval if given.
    pub(super) async fn plan(&self, token: Option<&ApprovalToken>) -> Result<Plan, CommandFailure> {
        let expires = token.map_or_else(|| self.remover.expiry(), |token| token.expires);
        let plan = self.wait_for(self.remover.plan(expires)).await;
        let mut plan = plan.map_err(session::signed_out)?;
        plan.notes.extend(self.remover.former_run().await);
        Ok(plan)
    }

    /// Prints a plan. The exit code shows whether `apply` would start.
    pub(super) async fn show(
        &self,
        plan: &Plan,
        output: &PlanOutput,
    ) -> Result<u8, CommandFailure> {
        show::plan(self, plan, output).await?;
        let Some(check) = plan.checks.iter().find(|check| !check.allows_run()) else {
            return Ok(0);
        };
        if plan.nothing_to_do {
            return Ok(0);
        }
        let why = check.evidence.join("; ");
        Err(match check.outcome {
            Outcome::Unknown => CommandFailure::io(format!("{} is unknown: {why}", check.name)),
            _ => CommandFailure::blocked(format!(
                "{}: {why}\n{}",
                check.name,
                exit::check_hint(&check.name)
            )),
        })
    }
}
