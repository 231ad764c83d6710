//! How a step of `mooring repair --pipeline` with a run ends.

use mooring_redact::printable;
use mooring_repair::report::{DetectionReport, RunReport};
use mooring_repair::runtime::{CommandResult, Operator};
use mooring_repair::verdict::WedgeVerdict;
use mooring_repair::workflow::Run;
use mooring_workflow::{Finish, Reason, RunOutcome};

use crate::output::AnswerFormat;
use crate::output::failure::CommandFailure;
use crate::workflows::repair::formats::RunOutput;
use crate::workflows::repair::show;
use crate::workflows::runs::{format_lock, write};

/// Prints the report of a run.
pub(super) async fn print_result(
    operator: &mut Operator,
    ending: CommandResult,
) -> Result<u8, CommandFailure> {
    // The result is known even if the journal cannot be read again.
    let journal = operator.status().await.ok();
    let begun = matches!(ending, CommandResult::Stopped(_) | CommandResult::Resumable(_));
    let report = journal.as_ref().and_then(|journal| journal.runs.last.as_ref()).map(RunReport::of);
    let last = report.as_ref().and_then(|report| report.finish);
    let report = report.filter(|_| begun);
    if let Some(journal) = journal.as_ref().filter(|_| report.is_some()) {
        let output = RunOutput { output: AnswerFormat::Table };
        show::report(operator, journal, &output).await?;
    }
    verdict(ending, report.as_ref(), last)
}

/// Handles an unfinished run without approval on a pool that no plan may rebuild.
pub(super) fn not_resumed(state: &Run, report: &DetectionReport) -> Result<u8, CommandFailure> {
    if report.detection.verdict == WedgeVerdict::Healthy {
        write(&format!(
            "run {} in the journal is unfinished, and the pool is not wedged; nothing to do\nhint: `mooring repair abort` ends the run\n",
            printable(&state.id)
        ));
        return Ok(0);
    }
    Err(CommandFailure::blocked(format!(
        "run {} is unfinished, and the checks allow no new plan\nhint: manual action required: `mooring repair status`, then `resume` or `abort`",
        printable(&state.id)
    )))
}

const RESTART: &str = "run the step again to start a new run";

/// Returns true if only an operator can resolve the reason.
fn needs_operator(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::CheckFailed
            | Reason::Changed
            | Reason::Gone
            | Reason::NameTaken
            | Reason::NotUndoable
            | Reason::NotApproved
    )
}

/// `report` is that of the run of this step, `last` the result of the last run of the journal.
fn verdict(
    ending: CommandResult,
    report: Option<&RunReport>,
    last: Option<Finish>,
) -> Result<u8, CommandFailure> {
    Err(CommandFailure::io(match ending {
        // The pool recovered, or something else changed: there is nothing to repair.
        CommandResult::Stopped(RunOutcome::Finished(Finish::Refused))
            if report.is_some_and(RunReport::refused_at_recheck) =>
        {
            return Ok(0);
        }
        CommandResult::Stopped(RunOutcome::Finished(
            Finish::Complete | Finish::Partial | Finish::NothingToDo,
        )) => return Ok(0),
        CommandResult::Stopped(RunOutcome::Finished(Finish::Aborted)) => {
            format!("the run was aborted and is now rolled back\nhint: {RESTART}")
        }
        // Another process finished it while this step waited.
        CommandResult::Nothing(text) => match last {
            None | Some(Finish::Complete | Finish::Partial | Finish::NothingToDo) => {
                write(&format!("{text}; nothing to do\n"));
                return Ok(0);
            }
            Some(Finish::Aborted | Finish::Refused) => {
                format!("{text}, and the pool is not repaired\nhint: {RESTART}")
            }
        },
        CommandResult::Stopped(RunOutcome::Finished(Finish::Refused)) => {
            let why = report.and_then(|report| report.stopped.as_deref());
            format!("blocked: {}", why.unwrap_or("by a check"))
        }
        CommandResult::Stopped(RunOutcome::Resumable { reason, message })
            if needs_operator(reason) =>
        {
            format!("{message}\nhint: manual action required; see `mooring repair status`")
        }
        CommandResult::Stopped(RunOutcome::Resumable { message, .. })
        | CommandResult::Resumable(message) => {
            format!("{message}\nhint: run the step again to continue")
        }
        CommandResult::Refused(error) => error.to_string(),
        CommandResult::Held(lock) => format_lock(&lock),
        CommandResult::Failed(why) | CommandResult::NoJournal(why) => why,
    }))
}

#[cfg(test)]
mod tests {
    use mooring_repair::plan::Step;

    use super::*;

    #[test]
    fn pool_that_recovers_before_any_change_is_nothing_to_do() {
        let of = |step| RunReport {
            run: String::new(),
            cluster: String::new(),
            pool: String::new(),
            plan_hash: String::new(),
            finish: Some(Finish::Refused),
            undoing: false,
            step: Some(step),
            steps: Vec::new(),
            overrides: Vec::new(),
            left: Vec::new(),
            stopped: Some("systmp belongs to another run".to_owned()),
        };
        let refused = |step| {
            verdict(
                CommandResult::Stopped(RunOutcome::Finished(Finish::Refused)),
                Some(&of(step)),
                None,
            )
        };
        assert_eq!(refused(Step::Recheck).ok(), Some(0));
        let failure = refused(Step::Snapshot).unwrap_err();
        assert!(failure.text().contains("another run"), "{}", failure.text());
    }

    #[test]
    fn step_succeeds_only_if_the_pool_is_repaired_or_healthy() {
        let code = |ending, last| verdict(ending, None, last).map_err(|failure| failure.text());
        let over = || CommandResult::Nothing("run r is over".to_owned());
        assert_eq!(code(over(), Some(Finish::Complete)), Ok(0));
        assert!(code(over(), Some(Finish::Aborted)).unwrap_err().contains("start a new run"));
        let undone = CommandResult::Stopped(RunOutcome::Finished(Finish::Aborted));
        assert!(code(undone, Some(Finish::Aborted)).unwrap_err().contains("start a new run"));
        let stopped = |reason| {
            CommandResult::Stopped(RunOutcome::Resumable { reason, message: "m".to_owned() })
        };
        assert!(code(stopped(Reason::Deadline), None).unwrap_err().contains("to continue"));
        assert!(code(stopped(Reason::Gone), None).unwrap_err().contains("manual action"));
    }
}
