//! How a run ended, for people, programs and exit codes.

use std::fmt::Write as _;

use mooring_repair::begin::BeginError;
use mooring_repair::report::RunReport;
use mooring_repair::resume::ResumeError;
use mooring_repair::settings::Settings;
use mooring_repair::shell::{CommandResult, Operator};
use mooring_repair::workflow::Finish;
use mooring_repair::workflow::Reason;
use mooring_repair::workflow::RunOutcome;

use super::arguments::Written;
use super::show;
use crate::failure::Failure;
use crate::runs::{exit_code, journal_flag};

/// Shows the report of a run that was begun, and says what to do next.
pub(crate) async fn end(
    operator: &mut Operator,
    ending: CommandResult,
    output: Written,
) -> Result<u8, Failure> {
    let begun = matches!(ending, CommandResult::Rested(_) | CommandResult::Resumable(_));
    let mut over = false;
    if begun
        && let Ok(standing) = operator.status().await
        && let Ok(Some(report)) = RunReport::of(&standing.records)
    {
        over = report.finish.is_some();
        show::report(&report, output)?;
    }
    let flags = flags(operator.settings());
    let status = format!("mooring repair status{flags}");
    let mut next = format!("`mooring repair resume{flags}` continues");
    if !matches!(
        &ending,
        CommandResult::Rested(RunOutcome::Resumable { reason: Reason::NotUndoable, .. })
    ) {
        let _ = write!(next, ", `mooring repair abort{flags}` undoes what can be undone");
    }
    if over {
        "they brought it to its end, and nothing is left to do".clone_into(&mut next);
    }
    exit_code(
        ending,
        &status,
        &next,
        |rest| match rest {
            RunOutcome::Finished(Finish::Repaired | Finish::NothingToDo | Finish::Aborted) => Ok(0),
            RunOutcome::Finished(Finish::Refused) => Ok(4),
            RunOutcome::Resumable { message, .. } => Err(message),
        },
        |error| refusal(error, operator.settings()),
    )
}

/// What leads another command to the same run.
fn flags(settings: &Settings) -> String {
    let mut flags = journal_flag(&settings.journal);
    if settings.target.pool != "system" {
        let _ = write!(flags, " --pool {}", settings.target.pool);
    }
    flags
}

pub(crate) fn refusal(error: &BeginError, settings: &Settings) -> Failure {
    match error {
        BeginError::Journal(_) => Failure::io(error.to_string()),
        BeginError::Unfinished(_) => Failure::blocked(format!(
            "{error}\nhint: `mooring repair status{}` tells how far it is",
            flags(settings)
        )),
        BeginError::PlanChanged { .. } | BeginError::Expired(_) => Failure::blocked(format!(
            "{error}\nhint: `mooring repair plan` makes a new plan to approve"
        )),
        BeginError::NotResumed(why) => {
            let flags = flags(settings);
            let hint = match why {
                ResumeError::NotRepeated(_) => format!(
                    "repeat them, or run `mooring repair resume{flags}` without --yes and type the name"
                ),
                ResumeError::Contradicted(_) => format!(
                    "the journal was changed or replaced; `mooring repair status{flags}` shows it, docs/RUNBOOK.md has the ways out"
                ),
                _ => format!(
                    "pass `--plan-hash` with the hash that the run was begun with, or run `mooring repair resume{flags}` without --yes and type the name"
                ),
            };
            Failure::blocked(format!("{error}\nhint: {hint}"))
        }
        BeginError::TooOften(_) => Failure::blocked(format!(
            "{error}\nhint: find out why it comes back; `--override recreations=REASON` begins all the same"
        )),
        BeginError::Hopeless(_) => Failure::blocked(format!(
            "{error}\nhint: `mooring repair plan` shows all checks; `--override CHECK=REASON` begins all the same, but for a name that is taken"
        )),
        BeginError::Refused(_) => Failure::blocked(format!(
            "{error}\nhint: `mooring repair detect` shows why; `--override GUARD=REASON` goes on all the same"
        )),
    }
}
