//! `mooring repair --pipeline`: the whole repair as one unattended step.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use jiff::SignedDuration;
use mooring_arm::BudgetLimits;
use mooring_redact::printable;
use mooring_repair::checks::{CLUSTER_STATE, OTHER_OPERATION, blocks};
use mooring_repair::plan::{Plan, PlanError};
use mooring_repair::report::DetectionReport;
use mooring_repair::resume::{Consent, Fresh, ResumeBasis};
use mooring_repair::runtime::{CommandResult, JournalStatus, LOCK_TIMEOUT, Operator, Watcher};
use mooring_repair::start_checks::{StartError, may_begin};
use mooring_repair::verdict::WedgeVerdict;
use mooring_repair::workflow::Run;
use mooring_workflow::approval::Approval;
use mooring_workflow::store::{IfMissing, JOURNAL};
use mooring_workflow::{CheckResult, Outcome};

use crate::cluster::{connect, wait_for_each};
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, PlanFormat};
use crate::process::build_runtime;
use crate::workflows::repair::arguments::RepairArguments;
use crate::workflows::repair::commands::pipeline_end::{not_resumed, print_result};
use crate::workflows::repair::confirm::show_target;
use crate::workflows::repair::formats::PlanOutput;
use crate::workflows::repair::leftover::{absence, ensure_no_temporary_pool, unfinished};
use crate::workflows::repair::progress::watcher;
use crate::workflows::repair::session::operator;
use crate::workflows::repair::settings::of_pipeline;
use crate::workflows::repair::show;
use crate::workflows::runs::{
    ProgressOutput, Signals, WAITING, dry_run, print_once, with_progress, write,
};

/// Deadline of the step, including waits for permissions and for the lock.
const STEP_DEADLINE: SignedDuration = SignedDuration::from_hours(1);
/// Time to record and report the result.
const REPORT_TIME: SignedDuration = SignedDuration::from_mins(2);
/// Time for role assignments of an earlier step to propagate.
const PERMISSION_TIMEOUT: Duration = Duration::from_mins(1);

/// Returns the deadline of a run that starts after `elapsed`, so that it stops before the step does.
fn left_after(elapsed: SignedDuration) -> SignedDuration {
    (STEP_DEADLINE - REPORT_TIME - LOCK_TIMEOUT - elapsed).max(SignedDuration::from_mins(1))
}

/// Exit 2 is only for an invalid `DRY_RUN`.
pub(crate) fn pipeline(arguments: &RepairArguments) -> Result<u8, CommandFailure> {
    let dry_run = dry_run::from_environment()? || arguments.dry_run;
    dry_run::announce(dry_run);
    let settings = of_pipeline(arguments).map_err(|failure| failure.with_code(1))?;
    let done = build_runtime()?.block_on(async {
        let client = connect::azure_client(None, BudgetLimits::default())?;
        let (mut operator, signals) = operator(&client, None, settings)?;
        let limit = arguments.permission_timeout.min(PERMISSION_TIMEOUT);
        let waiting = Rc::new(RefCell::new(WAITING.to_owned()));
        let permission = Rc::clone(&waiting);
        let wait = move |what: &str| what.clone_into(&mut permission.borrow_mut());
        let limit = SignedDuration::try_from(limit).unwrap_or_default();
        operator.wait_for_permissions(limit, Box::new(wait));
        let fail_on_unknown = arguments.fail_on_unknown;
        let mut step =
            Step { operator: &mut operator, waiting: &waiting, dry_run, fail_on_unknown };
        let most = Duration::try_from(STEP_DEADLINE).unwrap_or_default();
        // Effects in progress are dropped as by a kill, which the journal survives.
        tokio::time::timeout(most, Box::pin(step.run(signals))).await.unwrap_or_else(|_| {
            Err(CommandFailure::resumable(
                "timed out after 60 minutes\nhint: run the step again to continue".to_owned(),
            ))
        })
    });
    done.map_err(|failure| failure.with_code(1))
}

struct Step<'a> {
    operator: &'a mut Operator,
    /// What the reads wait for.
    waiting: &'a RefCell<String>,
    dry_run: bool,
    fail_on_unknown: bool,
}

/// The journal, or why it cannot be used.
type Journal = Result<JournalStatus, CheckResult>;

impl Step<'_> {
    async fn run(&mut self, signals: Signals) -> Result<u8, CommandFailure> {
        let entered = tokio::time::Instant::now();
        with_progress(None, self.operator.ensure_access()).await.map_err(|why| {
            CommandFailure::io(format!(
                "{why}\nhint: check SUBSCRIPTION_ID, and the identity that AZURE_TOKEN_CREDENTIALS selects"
            ))
        })?;
        let waiting = self.waiting;
        let report = wait_for_each(&|| waiting.borrow().clone(), self.operator.detect()).await;
        if report.greenfield {
            let absence = absence(self.operator);
            write(&format!("{absence}: greenfield rollout, nothing to repair\n"));
            return Ok(0);
        }
        show::verdict(&report);
        let journal = self.journal(&report).await;
        // Unfinished runs come first: a pool that was deleted and not recreated looks like a missing pool.
        if let Ok(read) = &journal
            && let Some(state) = unfinished(self.operator, read)?
        {
            return self.resume(&state, signals, entered).await;
        }
        if !all_pass(&report) {
            return self.leave(&report, &journal, &report.detection.checks);
        }
        self.begin(&journal, signals, entered).await
    }

    /// Reads the journal, after its namespace was created if necessary.
    async fn journal(&mut self, report: &DetectionReport) -> Journal {
        let unknown = |why: &str| CheckResult::new(JOURNAL, Outcome::Unknown, why);
        if !report.detection.cluster_allows() {
            return Err(unknown("a cluster in this state may have no API"));
        }
        let if_missing = if self.dry_run { IfMissing::DryRun } else { IfMissing::Create };
        let place = self.operator.check_journal(if_missing).await;
        if place.outcome != Outcome::Pass {
            return Err(place);
        }
        self.operator.status().await.map_err(|error| unknown(error.why()))
    }

    /// Starts a run if the checks of its plan pass as well.
    async fn begin(
        &mut self,
        journal: &Journal,
        signals: Signals,
        entered: tokio::time::Instant,
    ) -> Result<u8, CommandFailure> {
        let examined = with_progress(None, self.operator.examine(None, None)).await;
        let report = &examined.report;
        let mut open = report.detection.checks.clone();
        match &examined.plan {
            Ok(plan) => open.extend(plan.checks.iter().filter(|check| blocks(check)).cloned()),
            Err(error) => open.push(no_plan(error)),
        }
        open.extend(examined.denied);
        open.push(self.operator.check_changes().await);
        if let Some(recent) = report.operation.as_ref().filter(|found| found.left_alone) {
            open.push(CheckResult::new(OTHER_OPERATION, Outcome::Fail, recent.to_string()));
        }
        open.retain(|check| !passes(check));
        let plan = match examined.plan {
            Ok(plan) if open.is_empty() => plan,
            _ => return self.leave(report, journal, &open),
        };
        if self.dry_run {
            show_plan(self.operator, &plan, report).await?;
        }
        if let Err(place) = journal {
            let why = place.detail();
            return Err(CommandFailure::io(format!("the run cannot be recorded: {why}")));
        }
        if self.dry_run {
            return Ok(0);
        }
        show_target(self.operator, "This repairs a wedged", None).await;
        show::warnings(&plan);
        let approval = Approval::Pipeline(plan.document.hash());
        let checks = &report.detection.checks;
        let run = async |operator: &mut Operator, watcher: Watcher<'_>| {
            operator.apply(&plan, checks, approval, watcher).await
        };
        match self.drive(signals, entered, run).await {
            CommandResult::Refused(
                error @ (StartError::TooOften(_) | StartError::Blocked(_) | StartError::Refused(_)),
            ) if ensure_finished(report, journal).is_ok() => {
                let why = error.to_string();
                self.leave(report, journal, &[CheckResult::new("start", Outcome::Fail, why)])
            }
            ending => print_result(self.operator, ending).await,
        }
    }

    /// Continues an unfinished run.
    async fn resume(
        &mut self,
        state: &Run,
        signals: Signals,
        entered: tokio::time::Instant,
    ) -> Result<u8, CommandFailure> {
        let run = printable(&state.id);
        let basis = self.operator.resume_basis(state).await.map_err(CommandFailure::io)?;
        let examined = with_progress(None, self.operator.examine(None, Some(state))).await;
        let report = &examined.report;
        let checks = &report.detection.checks;
        let plan = if basis == ResumeBasis::Replannable {
            if report.detection.verdict == WedgeVerdict::Healthy
                || checks.iter().any(|check| check.outcome == Outcome::Fail)
            {
                return not_resumed(state, report);
            }
            Some(examined.plan.map_err(|error| CommandFailure::io(error.to_string()))?)
        } else {
            None
        };
        let (would, how) = match (self.dry_run, &plan) {
            (true, Some(_)) => ("would be continued", " with this plan"),
            (true, None) => ("would be continued", ""),
            (false, Some(_)) => ("continues", " with a new plan"),
            (false, None) => ("is continued", ""),
        };
        let said = format!("run {run} is unfinished and {would}{how}\n");
        if self.dry_run {
            write(&said);
            if let Some(plan) = &plan {
                show_plan(self.operator, plan, report).await?;
                may_begin(plan, checks, self.operator.settings())
                    .map_err(|error| CommandFailure::io(error.to_string()))?;
            }
            return Ok(0);
        }
        let recent = report.operation.as_ref().filter(|found| found.left_alone);
        if let Some(recent) = recent.filter(|_| plan.is_some()) {
            write(&format!("{recent}; nothing to do\n"));
            return Ok(0);
        }
        show_target(self.operator, "This repairs a wedged", None).await;
        plan.iter().for_each(show::warnings);
        write(&said);
        let mut say = print_once();
        let run = async |operator: &mut Operator, watcher: Watcher<'_>| {
            let fresh = plan.as_ref().map(|plan| Fresh { plan, checks });
            operator.resume(&Consent::Pipeline, fresh, watcher, &mut say).await
        };
        let ending = self.drive(signals, entered, run).await;
        print_result(self.operator, ending).await
    }

    /// Drives a run in the time that is left.
    async fn drive(
        &mut self,
        signals: Signals,
        entered: tokio::time::Instant,
        run: impl AsyncFnOnce(&mut Operator, Watcher<'_>) -> CommandResult,
    ) -> CommandResult {
        let elapsed = SignedDuration::try_from(entered.elapsed()).unwrap_or(STEP_DEADLINE);
        self.operator.allow(left_after(elapsed));
        let mut progress = ProgressOutput::new();
        let run = Box::pin(run(self.operator, watcher(&mut progress)));
        let ending = signals.run(run, CommandResult::Resumable).await;
        progress.end();
        ending
    }

    /// Ends without a change. One warning names the checks that could not be evaluated, or else those that did not pass;
    /// a healthy pool has none.
    fn leave(
        &self,
        report: &DetectionReport,
        journal: &Journal,
        open: &[CheckResult],
    ) -> Result<u8, CommandFailure> {
        ensure_finished(report, journal)?;
        let of = |outcome| open.iter().filter(move |check| check.outcome == outcome);
        // In another state of the cluster, nothing else counts.
        let mut named: Vec<&CheckResult> =
            of(Outcome::Fail).filter(|check| check.name == CLUSTER_STATE).collect();
        if named.is_empty() {
            named.extend(of(Outcome::Unknown));
        }
        if named.is_empty() {
            named.extend(journal.as_ref().err());
        }
        if named.is_empty() && report.detection.verdict == WedgeVerdict::Healthy {
            write("nothing to do\n");
            return Ok(0);
        }
        if named.is_empty() {
            named.extend(of(Outcome::Fail));
        }
        let is_unknown = |check: &&CheckResult| check.outcome == Outcome::Unknown;
        let texts: Vec<String> = named
            .iter()
            .map(|check| {
                let how = if is_unknown(check) { "could not be checked" } else { "did not pass" };
                format!("{} {how}: {}", check.name, check.detail())
            })
            .collect();
        let text = format!("{}; nothing was changed", printable(&texts.join("; ")));
        if self.fail_on_unknown && named.iter().any(is_unknown) {
            return Err(CommandFailure::io(text));
        }
        write(&format!("warning: {text}\n"));
        Ok(0)
    }
}

fn passes(check: &CheckResult) -> bool {
    check.allows_run() || check.transient
}

fn all_pass(report: &DetectionReport) -> bool {
    let checks = &report.detection.checks;
    !checks.is_empty() && checks.iter().all(passes)
}

fn no_plan(error: &PlanError) -> CheckResult {
    let is_unknown = matches!(error, PlanError::Unread(..) | PlanError::Throttled(..));
    let outcome = if is_unknown { Outcome::Unknown } else { Outcome::Fail };
    CheckResult::new("plan", outcome, error.to_string())
}

/// Fails for the temporary pool of a repair that did not finish. That of a finished run is adopted by the next one.
fn ensure_finished(report: &DetectionReport, journal: &Journal) -> Result<(), CommandFailure> {
    let run = report.temporary_pool.as_ref().and_then(|left| left.run.as_ref());
    let is_known = |journal: &JournalStatus| run.is_some_and(|run| journal.runs.knows(run));
    if all_pass(report) && journal.as_ref().is_ok_and(is_known) {
        return Ok(());
    }
    ensure_no_temporary_pool(report)
}

async fn show_plan(
    operator: &mut Operator,
    plan: &Plan,
    report: &DetectionReport,
) -> Result<(), CommandFailure> {
    let output = PlanOutput { output: PlanFormat::Answer(AnswerFormat::Table) };
    let flags = format!(" --pool {}", plan.pool);
    show::plan(operator, plan, report, &output, &flags).await
}

#[cfg(test)]
mod tests {
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
}
