//! `mooring repair --pipeline`: the whole repair as one unattended step.

use std::time::Duration;

use jiff::SignedDuration;
use mooring_arm::BudgetLimits;
use mooring_redact::printable;
use mooring_repair::plan::Plan;
use mooring_repair::report::{DetectionReport, RunReport};
use mooring_repair::resume::{Consent, Fresh, ResumeBasis};
use mooring_repair::runtime::{CommandResult, LOCK_TIMEOUT, Operator};
use mooring_repair::settings::Settings;
use mooring_repair::start_checks::may_begin;
use mooring_repair::temporary_pool::TemporaryPool;
use mooring_repair::verdict::WedgeVerdict;
use mooring_repair::workflow::Finish;
use mooring_repair::workflow::RunOutcome;
use mooring_repair::workflow::{Reason, Run};
use mooring_workflow::Outcome;
use mooring_workflow::approval::Approval;
use mooring_workflow::store::JournalPlace;

use crate::cluster::connect;
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, PlanFormat};
use crate::process::{build_runtime, env_var};
use crate::workflows::repair::arguments::RepairArguments;
use crate::workflows::repair::confirm::show_target;
use crate::workflows::repair::formats::{PlanOutput, RunOutput};
use crate::workflows::repair::leftover::{
    absence, ensure_no_temporary_pool, unfinished, warn_of_0_1,
};
use crate::workflows::repair::progress::watcher;
use crate::workflows::repair::session::operator;
use crate::workflows::repair::settings::{SIGNATURES, read_signatures};
use crate::workflows::repair::show;
use crate::workflows::runs::{
    ProgressOutput, Signals, dry_run, format_lock, print_once, with_progress, write,
};

/// Deadline of the step, including waits for permissions and for the lock.
const STEP_DEADLINE: SignedDuration = SignedDuration::from_hours(1);
/// Time to record and report the result.
const REPORT_TIME: SignedDuration = SignedDuration::from_mins(2);
/// Time for role assignments of an earlier step to propagate.
const PERMISSION_TIMEOUT: SignedDuration = SignedDuration::from_mins(5);

/// Returns the deadline of a run that starts after `elapsed`, so that it stops before the step does.
fn left_after(elapsed: SignedDuration) -> SignedDuration {
    (STEP_DEADLINE - REPORT_TIME - LOCK_TIMEOUT - elapsed).max(SignedDuration::from_mins(1))
}

/// Exit 0 for done or nothing to do, 2 for an invalid `DRY_RUN`, 1 for everything else.
pub(crate) fn pipeline(arguments: &RepairArguments) -> Result<u8, CommandFailure> {
    let dry_run = dry_run::from_environment()? || arguments.dry_run;
    dry_run::announce(dry_run);
    let mut settings = Settings::from_env(env_var).map_err(|error| {
        CommandFailure::usage(format!("{error}\nhint: set it as an environment variable"))
            .with_code(1)
    })?;
    settings.version = arguments.kubernetes_version;
    if let Some(namespace) = &arguments.namespace {
        settings.journal = JournalPlace::ConfigMap(namespace.clone());
    }
    read_signatures(&mut settings, env_var(SIGNATURES).as_deref())
        .map_err(|failure| failure.with_code(1))?;
    let done = build_runtime()?.block_on(async {
        let client = connect::azure_client(None, BudgetLimits::default())?;
        let (mut operator, signals) = operator(&client, None, settings)?;
        operator.wait_for_permissions(PERMISSION_TIMEOUT, Box::new(print_once()));
        let most = Duration::try_from(STEP_DEADLINE).unwrap_or_default();
        // Effects in progress are dropped as by a kill, which the journal survives.
        tokio::time::timeout(most, Box::pin(step(&mut operator, signals, dry_run)))
            .await
            .unwrap_or_else(|_| {
                Err(CommandFailure::resumable(
                    "timed out after 60 minutes\nhint: run the step again to continue".to_owned(),
                ))
            })
    });
    done.map_err(|failure| failure.with_code(1))
}

async fn step(
    operator: &mut Operator,
    signals: Signals,
    dry_run: bool,
) -> Result<u8, CommandFailure> {
    let entered = tokio::time::Instant::now();
    let report = with_progress(None, operator.detect()).await;
    if report.greenfield {
        write(&format!("{}: greenfield rollout, nothing to repair\n", absence(operator)));
        return Ok(0);
    }
    show_target(operator, "This repairs a wedged", None).await;
    show::verdict(&report);
    // Unfinished runs come first: a pool that was deleted and not recreated looks like a missing pool.
    let status = match operator.status().await {
        Ok(status) => status,
        // A cluster that is being created or deleted may have no API, and no run continues there.
        Err(_) if !report.detection.cluster_allows() => return nothing_to_do(&report),
        Err(unreached) => return Err(unreached.into()),
    };
    warn_of_0_1(operator).await;
    let unfinished = unfinished(operator, &status.records)?;
    let basis = match &unfinished {
        Some(state) => Some(operator.resume_basis(state).await.map_err(CommandFailure::io)?),
        None => None,
    };
    let examined = with_progress(None, operator.examine(None, unfinished.as_ref())).await;
    let report = &examined.report;
    let elapsed = SignedDuration::try_from(entered.elapsed()).unwrap_or(STEP_DEADLINE);
    operator.allow(left_after(elapsed));
    let mut progress = ProgressOutput::new();
    let checks = &report.detection.checks;
    let resumed = unfinished.as_ref().zip(basis);
    let plan = match &resumed {
        Some((state, basis)) if *basis != ResumeBasis::Replannable => {
            let run = printable(&state.id);
            if dry_run {
                write(&format!("run {run} is unfinished and would be continued\n"));
                return Ok(0);
            }
            write(&format!("run {run} is unfinished and is continued\n"));
            None
        }
        replanned => {
            if report.detection.verdict == WedgeVerdict::Healthy
                || checks.iter().any(|check| check.outcome == Outcome::Fail)
            {
                return match replanned {
                    Some((state, _)) => not_resumed(state, report),
                    None => nothing_to_do(report),
                };
            }
            let plan =
                examined.plan.as_ref().map_err(|error| CommandFailure::io(error.to_string()))?;
            if dry_run {
                if let Some((state, _)) = replanned {
                    let run = printable(&state.id);
                    write(&format!(
                        "run {run} is unfinished and would be continued with this plan\n"
                    ));
                }
                show_plan(operator, plan, report).await?;
                may_begin(plan, checks, operator.settings())
                    .map_err(|error| CommandFailure::io(error.to_string()))?;
                return Ok(0);
            }
            if let Some(recent) = report.operation.as_ref().filter(|found| found.left_alone) {
                let own = |left: &TemporaryPool| {
                    status.records.iter().any(|record| left.run.as_ref() == Some(&record.run))
                };
                if !report.temporary_pool.as_ref().is_some_and(own) {
                    ensure_no_temporary_pool(report)?;
                }
                write(&format!("{recent}; nothing to do\n"));
                return Ok(0);
            }
            show::warnings(plan);
            if let Some((state, _)) = replanned {
                let run = printable(&state.id);
                write(&format!("run {run} is unfinished and continues with a new plan\n"));
            }
            Some(plan)
        }
    };
    let watcher = watcher(&mut progress);
    let mut say = print_once();
    let run = async {
        match (resumed, plan) {
            (None, Some(plan)) => {
                let approval = Approval::Pipeline(plan.document.hash());
                operator.apply(plan, checks, approval, watcher).await
            }
            (_, plan) => {
                let fresh = plan.map(|plan| Fresh { plan, checks });
                operator.resume(&Consent::Pipeline, fresh, watcher, &mut say).await
            }
        }
    };
    let ending = signals.run(Box::pin(run), CommandResult::Resumable).await;
    progress.end();
    print_result(operator, ending).await
}

/// Prints the report of a run.
async fn print_result(
    operator: &mut Operator,
    ending: CommandResult,
) -> Result<u8, CommandFailure> {
    // The result is known even if the journal cannot be read again.
    let journal = operator.status().await.ok();
    let records = journal.as_ref().map(|journal| journal.records.as_slice()).unwrap_or_default();
    let begun = matches!(ending, CommandResult::Stopped(_) | CommandResult::Resumable(_));
    let report = RunReport::of(records).ok().flatten();
    let last = report.as_ref().and_then(|report| report.finish);
    let report = report.filter(|_| begun);
    if let Some(journal) = journal.as_ref().filter(|_| report.is_some()) {
        let output = RunOutput { output: AnswerFormat::Table, schema: None };
        show::report(operator, journal, &output).await?;
    }
    verdict(ending, report.as_ref(), last)
}

async fn show_plan(
    operator: &mut Operator,
    plan: &Plan,
    report: &DetectionReport,
) -> Result<(), CommandFailure> {
    let output = PlanOutput { output: PlanFormat::Answer(AnswerFormat::Table), schema: None };
    let flags = format!(" --pool {}", plan.pool);
    show::plan(operator, plan, report, &output, &flags).await
}

fn nothing_to_do(report: &DetectionReport) -> Result<u8, CommandFailure> {
    ensure_no_temporary_pool(report)?;
    write("nothing to do\n");
    Ok(0)
}

/// Handles an unfinished run without approval on a pool that no plan may rebuild.
fn not_resumed(state: &Run, report: &DetectionReport) -> Result<u8, CommandFailure> {
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
            | Reason::PoolChanged
            | Reason::PoolGone
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
        CommandResult::Stopped(RunOutcome::Finished(Finish::Repaired | Finish::NothingToDo)) => {
            return Ok(0);
        }
        CommandResult::Stopped(RunOutcome::Finished(Finish::Aborted)) => {
            format!("the run was aborted and is now rolled back\nhint: {RESTART}")
        }
        // Another process finished it while this step waited.
        CommandResult::Nothing(text) => match last {
            None | Some(Finish::Repaired | Finish::NothingToDo) => {
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
    use jiff::Timestamp;
    use mooring_repair::plan::Step;

    use super::*;

    #[test]
    fn run_stops_before_the_deadline_of_the_step() {
        assert_eq!(left_after(SignedDuration::ZERO), SignedDuration::from_mins(53));
        for waited in [0, 1, 6, 30, 51] {
            let waited = SignedDuration::from_mins(waited);
            let all = waited + LOCK_TIMEOUT + left_after(waited) + REPORT_TIME;
            assert!(all <= SignedDuration::from_mins(60), "{waited}: {all}");
        }
    }

    #[test]
    fn pool_that_recovers_before_any_change_is_nothing_to_do() {
        let of = |step| RunReport {
            schema: "mooring.repair/v1",
            run: String::new(),
            cluster: String::new(),
            pool: String::new(),
            plan_hash: String::new(),
            started: Timestamp::UNIX_EPOCH,
            last: Timestamp::UNIX_EPOCH,
            finish: Some(Finish::Refused),
            undoing: false,
            step: Some(step),
            steps: Vec::new(),
            effects: Vec::new(),
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
        let code =
            |ending, last| verdict(ending, None, last).map_err(|failure| failure.text().to_owned());
        let over = || CommandResult::Nothing("run r is over".to_owned());
        assert_eq!(code(over(), Some(Finish::Repaired)), Ok(0));
        assert!(code(over(), Some(Finish::Aborted)).unwrap_err().contains("start a new run"));
        let undone = CommandResult::Stopped(RunOutcome::Finished(Finish::Aborted));
        assert!(code(undone, Some(Finish::Aborted)).unwrap_err().contains("start a new run"));
        let stopped = |reason| {
            CommandResult::Stopped(RunOutcome::Resumable { reason, message: "m".to_owned() })
        };
        assert!(code(stopped(Reason::Deadline), None).unwrap_err().contains("to continue"));
        assert!(code(stopped(Reason::PoolGone), None).unwrap_err().contains("manual action"));
    }
}
