//! Results and exit codes of runs.

use std::fmt::Write as _;

use mooring_finalizers::checks::OPERATOR_GONE;
use mooring_finalizers::report::{RunReport, Verdict};
use mooring_finalizers::runtime::{CommandResult, JournalStatus, Remover, SignedOut, StartError};
use mooring_finalizers::workflow::{Finish, RunOutcome};

use super::arguments::RunFormat;
use crate::failure::Failure;
use crate::runs::{exit_code, format_lock};
use crate::show::{json, print};

const STILL_RUNS: &str = "hint: uninstall the operator first, or use `--scale-down` to stop it after its teardown; \
     or `--override operator-gone=REASON` if it is not running";

fn report(report: &RunReport, output: RunFormat) -> Result<(), Failure> {
    let text = match output {
        RunFormat::Table => report.table(),
        RunFormat::Json => json(report)?,
    };
    print(text.as_bytes())
}

/// Reports a command that started no run.
pub(crate) fn without_run(
    profile: &str,
    plan_hash: &str,
    result: Verdict,
    why: Option<String>,
    output: RunFormat,
) -> Result<(), Failure> {
    report(&RunReport::without_run(profile, plan_hash, result, why), output)
}

/// Prints the report, and the next command.
pub(crate) async fn end(
    remover: &Remover,
    profile: &str,
    plan_hash: &str,
    ending: CommandResult,
    output: RunFormat,
) -> Result<u8, Failure> {
    match &ending {
        CommandResult::Stopped(_) | CommandResult::Resumable(_) => {
            if let Ok(journal) = remover.status().await
                && let Ok(Some(found)) = RunReport::of(&journal.records)
            {
                report(&found, output)?;
            }
        }
        CommandResult::Refused(error) => {
            without_run(profile, plan_hash, Verdict::Refused, Some(error.to_string()), output)?;
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
        |rest| match rest {
            RunOutcome::Finished(finish) => Ok(u8::from(finish == Finish::Leftovers)),
            RunOutcome::Resumable { message, .. } => Err(message),
        },
        refusal,
    )
}

pub(crate) fn refusal(error: &StartError) -> Failure {
    match error {
        StartError::Journal(_) | StartError::Unknown { .. } => Failure::io(error.to_string()),
        StartError::Unfinished(_) => Failure::blocked(format!(
            "{error}\nhint: `mooring finalizers status` shows its progress"
        )),
        StartError::OtherProfile { .. } => Failure::blocked(format!(
            "{error}\nhint: use the profile that the run was started with, or move a foreign journal away (docs/RUNBOOK.md)"
        )),
        StartError::OtherCluster(_) => Failure::blocked(format!(
            "{error}\nhint: check the kubeconfig's current context, and `--journal`"
        )),
        StartError::PlanChanged { .. } | StartError::Expired(_) | StartError::NotApproved => {
            Failure::blocked(format!(
                "{error}\nhint: review and approve a new `mooring finalizers plan`"
            ))
        }
        StartError::Refused { name, .. } => {
            Failure::blocked(format!("{error}\n{}", check_hint(name)))
        }
    }
}

pub(crate) fn check_hint(check: &str) -> &'static str {
    if check == OPERATOR_GONE { STILL_RUNS } else { "hint: grant the missing permission" }
}

/// Reports rejected credentials, which are not a missing permission.
pub(crate) fn signed_out(error: SignedOut) -> Failure {
    Failure::io(format!("{error}\n{SIGN_IN}"))
}

const SIGN_IN: &str = "hint: sign in again (`az login`), or renew the kubeconfig's credentials (`az aks get-credentials`)";

/// Prints the last run of the journal.
pub(crate) fn status(
    journal: &JournalStatus,
    former: Option<&str>,
    output: RunFormat,
) -> Result<(), Failure> {
    let found = RunReport::of(&journal.records).map_err(|error| Failure::io(error.to_string()))?;
    if output == RunFormat::Json {
        let value = serde_json::json!({
            "schema": "mooring.finalizers.status/v1", "journal": journal.place,
            "run": found, "lock": journal.lock, "former": former,
        });
        return print(json(&value)?.as_bytes());
    }
    let mut text = match &found {
        Some(found) => found.table(),
        None => format!("No runs found in {}.\n", journal.place),
    };
    if let Some(former) = former {
        let _ = writeln!(text, "note     {former}");
    }
    if let Some(lock) = &journal.lock {
        let _ = writeln!(text, "lock     {}", format_lock(lock));
    }
    print(text.as_bytes())
}
