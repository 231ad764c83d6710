//! How a run ended, for people, programs and exit codes.

use std::fmt::Write as _;

use mooring_finalizers::checks::OPERATOR_GONE;
use mooring_finalizers::report::{RunReport, Verdict};
use mooring_finalizers::shell::{BeginError, CommandResult, JournalStatus, Remover, SignedOut};
use mooring_finalizers::workflow::{Finish, RunOutcome};

use super::arguments::Written;
use crate::failure::Failure;
use crate::runs::{exit_code, format_lock};
use crate::show::{json, print};

const STILL_RUNS: &str = "hint: uninstall the operator first, or let `--scale-down` give it time for its own teardown and then stop it; \
     `--override operator-gone=REASON` if it is known to be gone all the same";

fn report(report: &RunReport, output: Written) -> Result<(), Failure> {
    let text = match output {
        Written::Table => report.table(),
        Written::Json => json(report)?,
    };
    print(text.as_bytes())
}

/// The report of a command that began no run.
pub(crate) fn without_run(
    profile: &str,
    plan_hash: &str,
    result: Verdict,
    why: Option<String>,
    output: Written,
) -> Result<(), Failure> {
    report(&RunReport::without_run(profile, plan_hash, result, why), output)
}

/// Shows the report, and says what to do next.
pub(crate) async fn end(
    remover: &Remover,
    profile: &str,
    plan_hash: &str,
    ending: CommandResult,
    output: Written,
) -> Result<u8, Failure> {
    match &ending {
        CommandResult::Rested(_) | CommandResult::Resumable(_) => {
            if let Ok(standing) = remover.status().await
                && let Ok(Some(found)) = RunReport::of(&standing.records)
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

pub(crate) fn refusal(error: &BeginError) -> Failure {
    match error {
        BeginError::Journal(_) | BeginError::Unknown { .. } => Failure::io(error.to_string()),
        BeginError::Unfinished(_) => Failure::blocked(format!(
            "{error}\nhint: `mooring finalizers status` tells how far it is"
        )),
        BeginError::OtherProfile { .. } => Failure::blocked(format!(
            "{error}\nhint: use the profile that the run was started with; if the journal is not one of yours, move it away (docs/RUNBOOK.md)"
        )),
        BeginError::OtherCluster(_) => Failure::blocked(format!(
            "{error}\nhint: check the kubeconfig's current context, and `--journal`"
        )),
        BeginError::PlanChanged { .. } | BeginError::Expired(_) | BeginError::NotApproved => {
            Failure::blocked(format!(
                "{error}\nhint: review `mooring finalizers plan` again, and approve that"
            ))
        }
        BeginError::Refused { name, .. } => {
            Failure::blocked(format!("{error}\n{}", check_hint(name)))
        }
    }
}

/// What to do about a check that fails.
pub(crate) fn check_hint(check: &str) -> &'static str {
    if check == OPERATOR_GONE { STILL_RUNS } else { "hint: grant the permission that is missing" }
}

/// The credentials were rejected: a missing sign-in, not a missing permission.
pub(crate) fn signed_out(error: SignedOut) -> Failure {
    Failure::io(format!("{error}\n{SIGN_IN}"))
}

const SIGN_IN: &str = "hint: sign in again (`az login`), or renew the kubeconfig's credentials (`az aks get-credentials`)";

/// What the journal says of the last run.
pub(crate) fn standing(
    standing: &JournalStatus,
    former: Option<&str>,
    output: Written,
) -> Result<(), Failure> {
    let found = RunReport::of(&standing.records).map_err(|error| Failure::io(error.to_string()))?;
    if output == Written::Json {
        let value = serde_json::json!({
            "schema": "mooring.finalizers.status/v1", "journal": standing.place,
            "run": found, "lock": standing.lock, "former": former,
        });
        return print(json(&value)?.as_bytes());
    }
    let mut text = match &found {
        Some(found) => found.table(),
        None => format!("There is no run in {}.\n", standing.place),
    };
    if let Some(former) = former {
        let _ = writeln!(text, "note     {former}");
    }
    if let Some(lock) = &standing.lock {
        let _ = writeln!(text, "held     {}", format_lock(lock));
    }
    print(text.as_bytes())
}
