//! How a run ended, for people, programs and exit codes.

use mooring_repair::begin::BeginError;
use mooring_repair::journal::Finish;
use mooring_repair::report::RunReport;
use mooring_repair::run::Rest;
use mooring_repair::shell::{Ending, Operator};

use super::arguments::Written;
use super::progress::write;
use super::show;
use crate::failure::Failure;

/// Shows the report of a run that was begun, and says what to do next.
pub(crate) async fn end(
    operator: &mut Operator,
    ending: Ending,
    output: Written,
) -> Result<u8, Failure> {
    let begun = matches!(ending, Ending::Rested(_) | Ending::Resumable(_));
    if begun
        && let Ok(standing) = operator.status().await
        && let Ok(Some(report)) = RunReport::of(&standing.records)
    {
        show::report(&report, output)?;
    }
    code(ending)
}

fn code(ending: Ending) -> Result<u8, Failure> {
    const RESUME: &str =
        "hint: `mooring repair resume` continues, `mooring repair abort` undoes what can be undone";
    match ending {
        Ending::Rested(Rest::Finished(finish)) => Ok(match finish {
            Finish::Repaired | Finish::NothingToDo | Finish::Aborted => 0,
            Finish::Refused => 4,
        }),
        Ending::Rested(Rest::Resumable { message, .. }) | Ending::Resumable(message) => {
            Err(Failure::resumable(format!("{message}\n{RESUME}")))
        }
        Ending::Nothing(text) => {
            write(&format!("{text}; nothing to do\n"));
            Ok(0)
        }
        Ending::Refused(error) => Err(refusal(&error)),
        Ending::Held(lock) => Err(Failure::refused(format!(
            "{} (process {}) works on this pool, heard of at {}\nhint: `mooring repair status` tells how far it is",
            lock.owner.host, lock.owner.pid, lock.heartbeat
        ))),
        Ending::Failed(why) => Err(Failure::unreadable(why)),
    }
}

fn refusal(error: &BeginError) -> Failure {
    match error {
        BeginError::Journal(_) => Failure::unreadable(error.to_string()),
        BeginError::Unfinished(_) => {
            Failure::refused(format!("{error}\nhint: `mooring repair status` tells how far it is"))
        }
        BeginError::PlanChanged { .. } => Failure::refused(format!(
            "{error}\nhint: look at `mooring repair plan` again, and approve that"
        )),
        BeginError::TooOften(_) => Failure::refused(error.to_string()),
        BeginError::Refused(_) => Failure::refused(format!(
            "{error}\nhint: `mooring repair detect` shows why; `--override GUARD=REASON` goes on all the same"
        )),
    }
}
