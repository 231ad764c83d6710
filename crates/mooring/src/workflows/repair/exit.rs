//! Results and exit codes of runs.

use std::fmt::Write as _;

use mooring_repair::resume::ResumeError;
use mooring_repair::runtime::CommandResult;
use mooring_repair::start_checks::StartError;
use mooring_workflow::{Reason, RunOutcome};

use super::formats::RunOutput;
use super::session::RepairSession;
use super::show;
use crate::output::failure::CommandFailure;
use crate::workflows::runs::exit_code;

/// Prints the report of a run, and the next command.
pub(crate) async fn end(
    session: &mut RepairSession<'_>,
    ending: CommandResult,
    output: &RunOutput,
) -> Result<u8, CommandFailure> {
    let begun = matches!(ending, CommandResult::Stopped(_) | CommandResult::Resumable(_));
    let mut finished = false;
    if begun
        && let Ok(journal) = session.operator.status().await
        && let Some(run) = &journal.runs.last
    {
        finished = run.is_finished();
        show::report(&mut session.operator, &journal, output).await?;
    }
    let flags = session.flags();
    let status = format!("mooring repair status{flags}");
    let mut next = format!("`mooring repair resume{flags}` continues");
    if !matches!(
        &ending,
        CommandResult::Stopped(RunOutcome::Resumable { reason: Reason::NotUndoable, .. })
    ) {
        let _ = write!(next, ", `mooring repair abort{flags}` rolls back");
    }
    if finished {
        "the run has finished; nothing left to do".clone_into(&mut next);
    }
    exit_code(ending, &status, &next, |error| refusal(error, &flags))
}

/// Returns the failure of a run that cannot start. `flags` select the same run.
pub(crate) fn refusal(error: &StartError, flags: &str) -> CommandFailure {
    let hint = match error {
        StartError::Unfinished(_) => format!("`mooring repair status{flags}` shows its progress"),
        StartError::PlanChanged { .. } | StartError::Expired(_) => {
            "`mooring repair plan` creates a new plan to approve".to_owned()
        }
        StartError::NotResumed(ResumeError::NotRepeated(_)) => format!(
            "repeat them, or run `mooring repair resume{flags}` without --yes and type the name"
        ),
        StartError::NotResumed(ResumeError::Contradicted(_)) => format!(
            "the journal was changed or replaced; see `mooring repair status{flags}` and docs/RUNBOOK.md"
        ),
        StartError::NotResumed(_) => format!(
            "pass `--plan-hash` with the hash that the run was started with, or run `mooring repair resume{flags}` without --yes and type the name"
        ),
        StartError::TooOften(_) => {
            "find the root cause; `--override recreations=REASON` starts the run anyway".to_owned()
        }
        StartError::Blocked(_) => {
            "`mooring repair plan` shows all checks; `--override CHECK=REASON` starts the run anyway, except for pool-name".to_owned()
        }
        StartError::Refused(_) => {
            "`mooring repair detect` shows why; `--override CHECK=REASON` starts the run anyway"
                .to_owned()
        }
    };
    CommandFailure::blocked(format!("{error}\nhint: {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_names_the_command_that_helps() {
        let flags = " --journal configmap/ops --pool user";
        let hint = |error: &StartError| {
            let failure = refusal(error, flags);
            assert_eq!(failure.code(), "blocked");
            failure.text().split_once("\nhint: ").unwrap().1.to_owned()
        };
        let unfinished = hint(&StartError::Unfinished("r".to_owned()));
        assert_eq!(unfinished, format!("`mooring repair status{flags}` shows its progress"));
        let not_resumed = |why| hint(&StartError::NotResumed(why));
        let repeated = not_resumed(ResumeError::NotRepeated(vec!["--poll".to_owned()]));
        let expected = format!("repeat them, or run `mooring repair resume{flags}` without");
        assert!(repeated.starts_with(&expected), "{repeated}");
        let other = not_resumed(ResumeError::OtherPlan);
        assert!(other.starts_with("pass `--plan-hash` with the hash that the run"), "{other}");
    }
}
