//! Results and exit codes of runs.

use mooring_finalizers::checks::{NAMESPACE_CONTENTS, OPERATOR_GONE};
use mooring_finalizers::commands::{CommandResult, StartError};
use mooring_finalizers::plan::Plan;
use mooring_workflow::Outcome;

use super::session::FinalizerSession;
use super::show;
use crate::output::failure::CommandFailure;
use crate::output::show::print_warning;
use crate::output::{AnswerFormat, PlanFormat};
use crate::workflows::runs::exit_code;

const STILL_RUNS: &str = "hint: uninstall the operator first, or use `--scale-down` to stop it after its teardown; \
     or `--override operator-gone=REASON` if it is not running";

const FOREIGN: &str = "hint: move it to another namespace, or name each object that may go: `--override RESOURCE/NAME=REASON`";

/// Prints a plan. The exit code shows whether `apply` would start, and whether something could not be read.
pub(crate) async fn plan(
    session: &FinalizerSession,
    plan: &Plan,
    format: PlanFormat,
) -> Result<u8, CommandFailure> {
    show::plan(session, plan, format).await?;
    let Some(check) = plan.blocking().filter(|_| !plan.nothing_to_do) else {
        let unread = plan.unknown();
        for what in &unread {
            print_warning(&format!("not read completely: {what}"));
        }
        return Ok(if unread.is_empty() || plan.best_effort { 0 } else { 3 });
    };
    let why = check.evidence.join("; ");
    Err(match check.outcome {
        Outcome::Unknown => CommandFailure::io(format!("{} is unknown: {why}", check.name)),
        _ => CommandFailure::blocked(format!("{}: {why}\n{}", check.name, check_hint(&check.name))),
    })
}

/// Prints the report, and the next command.
pub(crate) async fn end(
    session: &FinalizerSession,
    plan_hash: &str,
    ending: CommandResult,
    format: AnswerFormat,
) -> Result<u8, CommandFailure> {
    match &ending {
        CommandResult::Stopped(_) | CommandResult::Resumable(_) => {
            if let Ok(journal) = session.remover.status().await {
                show::report(session, &journal, format).await?;
            }
        }
        CommandResult::Refused(error) => {
            let why = error.to_string();
            show::without_run(session, plan_hash, Some(&why), format).await?;
        }
        CommandResult::Nothing(_)
        | CommandResult::Held(_)
        | CommandResult::Failed(_)
        | CommandResult::NoJournal(_) => {}
    }
    exit_code(
        ending,
        "mooring finalizers status",
        "`mooring finalizers resume` continues, with the same profile and a new plan",
        refusal,
    )
}

pub(crate) fn refusal(error: &StartError) -> CommandFailure {
    let hint = match error {
        StartError::Journal(_) | StartError::Unknown { .. } => {
            return CommandFailure::io(error.to_string());
        }
        StartError::Unfinished(_) => "`mooring finalizers status` shows its progress",
        StartError::OtherProfile { .. } => {
            "use the profile that the run was started with, or move a foreign journal away (docs/RUNBOOK.md)"
        }
        StartError::OtherCluster(_) => "check the kubeconfig's current context, and `--journal`",
        StartError::PlanChanged { .. } | StartError::Expired(_) | StartError::NotApproved => {
            "review and approve a new `mooring finalizers plan`"
        }
        StartError::Refused { name, .. } => {
            return CommandFailure::blocked(format!("{error}\n{}", check_hint(name)));
        }
    };
    CommandFailure::blocked(format!("{error}\nhint: {hint}"))
}

fn check_hint(check: &str) -> &'static str {
    match check {
        OPERATOR_GONE => STILL_RUNS,
        NAMESPACE_CONTENTS => FOREIGN,
        _ => "hint: grant the missing permission",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_depends_on_the_check() {
        assert!(check_hint(OPERATOR_GONE).starts_with("hint: uninstall the operator first"));
        assert!(check_hint(NAMESPACE_CONTENTS).contains("--override RESOURCE/NAME=REASON"));
        assert_eq!(check_hint("objects-known"), "hint: grant the missing permission");
    }
}
