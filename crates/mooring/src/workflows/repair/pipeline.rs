//! `mooring repair --pipeline`: detect, plan and apply in a row as one unattended step, which approves its own plan.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use jiff::SignedDuration;
use mooring_redact::printable;
use mooring_repair::checks::blocks;
use mooring_repair::names::{CLUSTER_STATE, OTHER_OPERATION};
use mooring_repair::plan::{Plan, PlanError, Step};
use mooring_repair::report::DetectionReport;
use mooring_repair::resume::{Consent, Fresh, ResumeBasis};
use mooring_repair::runtime::{CommandResult, JournalStatus, LOCK_TIMEOUT};
use mooring_repair::start_checks::{StartError, may_begin};
use mooring_repair::verdict::WedgeVerdict;
use mooring_repair::workflow::Run;
use mooring_workflow::approval::Approval;
use mooring_workflow::store::{IfMissing, JOURNAL};
use mooring_workflow::{CheckResult, Finish, Outcome, Phase, Reason, RunOutcome};
use tokio::time::{Instant, timeout};

use super::arguments::{RepairArguments, TargetArguments};
use super::failures::{absence, ensure_no_temporary_pool, unfinished};
use super::session::{RepairSession, with_session};
use super::settings::of_pipeline;
use super::show;
use crate::cluster::wait_for_each;
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, PlanFormat};
use crate::workflows::runs::{
    WAITING, announce_dry_run, format_lock, is_dry_run, with_progress, write,
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
    let dry_run = is_dry_run()? || arguments.dry_run;
    announce_dry_run(dry_run);
    let target = TargetArguments::default();
    let done = of_pipeline(arguments).and_then(|settings| {
        with_session(&target, None, None, settings, async |session| {
            let limit = arguments.permission_timeout.min(PERMISSION_TIMEOUT);
            let waiting = Rc::new(RefCell::new(WAITING.to_owned()));
            let permission = Rc::clone(&waiting);
            let wait = move |what: &str| what.clone_into(&mut permission.borrow_mut());
            let limit = SignedDuration::try_from(limit).unwrap_or_default();
            session.operator.wait_for_permissions(limit, Box::new(wait));
            let (fail_on_unknown, began) = (arguments.fail_on_unknown, Instant::now());
            let mut step =
                PipelineStep { session, waiting: &waiting, dry_run, fail_on_unknown, began };
            // Effects in progress are dropped as by a kill, which the journal survives.
            let most = Duration::try_from(STEP_DEADLINE).unwrap_or_default();
            timeout(most, Box::pin(step.run())).await.unwrap_or_else(|_| {
                Err(CommandFailure::resumable(
                    "timed out after 60 minutes\nhint: run the step again to continue".to_owned(),
                ))
            })
        })
    });
    done.map_err(|failure| failure.with_code(1))
}

struct PipelineStep<'a, 'b> {
    session: &'a mut RepairSession<'b>,
    /// What the reads wait for.
    waiting: &'a RefCell<String>,
    dry_run: bool,
    fail_on_unknown: bool,
    began: Instant,
}

/// The journal, or why it cannot be used.
type Journal = Result<JournalStatus, CheckResult>;

const PLAN: PlanFormat = PlanFormat::Answer(AnswerFormat::Table);

impl PipelineStep<'_, '_> {
    async fn run(&mut self) -> Result<u8, CommandFailure> {
        let operator = &mut self.session.operator;
        with_progress(None, operator.ensure_access()).await.map_err(|why| {
            CommandFailure::io(format!(
                "{why}\nhint: check SUBSCRIPTION_ID, and the identity that AZURE_TOKEN_CREDENTIALS selects"
            ))
        })?;
        let waiting = self.waiting;
        let report = wait_for_each(&|| waiting.borrow().clone(), operator.detect()).await;
        if report.greenfield {
            let absence = absence(operator);
            write(&format!("{absence}: greenfield rollout, nothing to repair\n"));
            return Ok(0);
        }
        show::verdict(&report);
        let journal = self.journal(&report).await;
        // Unfinished runs come first: a pool that was deleted and not recreated looks like a missing pool.
        if let Ok(read) = &journal
            && let Some(run) = unfinished(&self.session.operator, read)?
        {
            return self.resume(&run).await;
        }
        if !all_pass(&report) {
            return self.leave(&report, &journal, &report.detection.checks);
        }
        self.apply(&journal).await
    }

    /// Reads the journal, after its namespace was created if necessary.
    async fn journal(&mut self, report: &DetectionReport) -> Journal {
        let unknown = |why: &str| CheckResult::new(JOURNAL, Outcome::Unknown, why);
        if !report.detection.cluster_allows() {
            return Err(unknown("a cluster in this state may have no API"));
        }
        let operator = &mut self.session.operator;
        let if_missing = if self.dry_run { IfMissing::DryRun } else { IfMissing::Create };
        let place = operator.check_journal(if_missing).await;
        if place.outcome != Outcome::Pass {
            return Err(place);
        }
        operator.status().await.map_err(|error| unknown(error.why()))
    }

    /// Starts a run if the checks of its plan pass as well.
    async fn apply(&mut self, journal: &Journal) -> Result<u8, CommandFailure> {
        let operator = &mut self.session.operator;
        let examined = with_progress(None, operator.examine(None, None)).await;
        let report = &examined.report;
        let mut open = report.detection.checks.clone();
        match &examined.plan {
            Ok(plan) => open.extend(plan.checks.iter().filter(|check| blocks(check)).cloned()),
            Err(error) => {
                let is_unknown = matches!(error, PlanError::Unread(..) | PlanError::Throttled(..));
                let outcome = if is_unknown { Outcome::Unknown } else { Outcome::Fail };
                open.push(CheckResult::new("plan", outcome, error.to_string()));
            }
        }
        open.extend(examined.denied);
        open.push(operator.check_changes().await);
        if let Some(recent) = report.operation.as_ref().filter(|found| found.left_alone) {
            open.push(CheckResult::new(OTHER_OPERATION, Outcome::Fail, recent.to_string()));
        }
        open.retain(|check| !passes(check));
        let plan = match examined.plan {
            Ok(plan) if open.is_empty() => plan,
            _ => return self.leave(report, journal, &open),
        };
        if self.dry_run {
            show::plan(self.session, &plan, report, PLAN).await?;
        }
        if let Err(place) = journal {
            let why = place.detail();
            return Err(CommandFailure::io(format!("the run cannot be recorded: {why}")));
        }
        if self.dry_run {
            return Ok(0);
        }
        self.prepare(Some(&plan)).await;
        let approval = Approval::Pipeline(plan.document.hash());
        let checks = &report.detection.checks;
        let RepairSession { operator, signals, .. } = &mut *self.session;
        let run = signals.drive("rollback", async |watcher, _| {
            operator.apply(&plan, checks, approval, watcher).await
        });
        match run.await {
            CommandResult::Refused(
                error @ (StartError::TooOften(_) | StartError::Blocked(_) | StartError::Refused(_)),
            ) if ensure_finished(report, journal).is_ok() => {
                let why = error.to_string();
                self.leave(report, journal, &[CheckResult::new("start", Outcome::Fail, why)])
            }
            ending => self.end(ending).await,
        }
    }

    /// Continues an unfinished run, with a new plan if nothing approves that of the journal.
    async fn resume(&mut self, run: &Run) -> Result<u8, CommandFailure> {
        let id = printable(&run.id);
        let operator = &mut self.session.operator;
        let mut fresh = None;
        if operator.resume_basis(run).await.map_err(CommandFailure::io)? == ResumeBasis::Replannable
        {
            let examined = with_progress(None, operator.examine(None, Some(run))).await;
            let report = examined.report;
            if report.detection.verdict == WedgeVerdict::Healthy {
                write(&format!(
                    "run {id} in the journal is unfinished, and the pool is not wedged; nothing to do\nhint: `mooring repair abort` ends the run\n"
                ));
                return Ok(0);
            }
            if report.detection.checks.iter().any(|check| check.outcome == Outcome::Fail) {
                return Err(CommandFailure::blocked(format!(
                    "run {id} is unfinished, and the checks allow no new plan\nhint: manual action required: `mooring repair status`, then `resume` or `abort`"
                )));
            }
            let plan = examined.plan.map_err(|error| CommandFailure::io(error.to_string()))?;
            fresh = Some((plan, report));
        }
        let how = match (self.dry_run, &fresh) {
            (true, Some(_)) => "would be continued with this plan",
            (true, None) => "would be continued",
            (false, Some(_)) => "continues with a new plan",
            (false, None) => "is continued",
        };
        let said = format!("run {id} is unfinished and {how}\n");
        if self.dry_run {
            write(&said);
            if let Some((plan, report)) = &fresh {
                show::plan(self.session, plan, report, PLAN).await?;
                may_begin(plan, &report.detection.checks, self.session.operator.settings())
                    .map_err(|error| CommandFailure::io(error.to_string()))?;
            }
            return Ok(0);
        }
        let recent = fresh.as_ref().and_then(|(_, report)| report.operation.as_ref());
        if let Some(recent) = recent.filter(|found| found.left_alone) {
            write(&format!("{recent}; nothing to do\n"));
            return Ok(0);
        }
        self.prepare(fresh.as_ref().map(|(plan, _)| plan)).await;
        write(&said);
        let RepairSession { operator, signals, .. } = &mut *self.session;
        let fresh =
            fresh.as_ref().map(|(plan, report)| Fresh { plan, checks: &report.detection.checks });
        let run = signals.drive("rollback", async |watcher, say| {
            operator.resume(&Consent::Pipeline, fresh, watcher, say).await
        });
        let ending = run.await;
        self.end(ending).await
    }

    /// Shows what a run changes, and gives it the time that is left.
    async fn prepare(&mut self, plan: Option<&Plan>) {
        self.session.show_target("This repairs a wedged", None).await;
        plan.into_iter().for_each(show::warnings);
        let elapsed = SignedDuration::try_from(self.began.elapsed()).unwrap_or(STEP_DEADLINE);
        self.session.operator.allow(left_after(elapsed));
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
        let named: [Vec<&CheckResult>; 3] = [
            // In another state of the cluster, nothing else counts.
            of(Outcome::Fail).filter(|check| check.name == CLUSTER_STATE).collect(),
            of(Outcome::Unknown).collect(),
            journal.as_ref().err().into_iter().collect(),
        ];
        let named = match named.into_iter().find(|named| !named.is_empty()) {
            Some(named) => named,
            None if report.detection.verdict == WedgeVerdict::Healthy => {
                write("nothing to do\n");
                return Ok(0);
            }
            None => of(Outcome::Fail).collect(),
        };
        let is_unknown = |check: &&CheckResult| check.outcome == Outcome::Unknown;
        let texts = named.iter().map(|check| {
            let how = if is_unknown(check) { "could not be checked" } else { "did not pass" };
            format!("{} {how}: {}", check.name, check.detail())
        });
        let texts = texts.collect::<Vec<_>>().join("; ");
        let text = format!("{}; nothing was changed", printable(&texts));
        if self.fail_on_unknown && named.iter().any(is_unknown) {
            return Err(CommandFailure::io(text));
        }
        write(&format!("warning: {text}\n"));
        Ok(0)
    }

    /// Prints the report of a run.
    async fn end(&mut self, ending: CommandResult) -> Result<u8, CommandFailure> {
        let run = self.session.report(&ending, AnswerFormat::Table).await?;
        let Some(run) = run else { return verdict(ending, None, None, None) };
        let last = match run.phase {
            Phase::Finished(finish) => Some(finish),
            Phase::Running | Phase::Aborting => None,
        };
        verdict(ending, last, run.step(), run.stopped.as_deref())
    }
}

fn passes(check: &CheckResult) -> bool {
    check.allows_run() || check.transient
}

fn all_pass(report: &DetectionReport) -> bool {
    let checks = &report.detection.checks;
    !checks.is_empty() && checks.iter().all(passes)
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

/// Returns the end of a step with a run. The others are of the last run of the journal: its end, its step, and why it stopped.
fn verdict(
    ending: CommandResult,
    last: Option<Finish>,
    step: Option<Step>,
    stopped: Option<&str>,
) -> Result<u8, CommandFailure> {
    const DONE: [Finish; 3] = [Finish::Complete, Finish::Partial, Finish::NothingToDo];
    Err(CommandFailure::io(match ending {
        CommandResult::Stopped(RunOutcome::Finished(finish)) if DONE.contains(&finish) => {
            return Ok(0);
        }
        // The pool recovered, or something else changed: there is nothing to repair.
        CommandResult::Stopped(RunOutcome::Finished(Finish::Refused))
            if step == Some(Step::Recheck) =>
        {
            return Ok(0);
        }
        CommandResult::Stopped(RunOutcome::Finished(Finish::Refused)) => {
            format!("blocked: {}", stopped.unwrap_or("by a check"))
        }
        CommandResult::Stopped(RunOutcome::Finished(_)) => {
            format!("the run was aborted and is now rolled back\nhint: {RESTART}")
        }
        // Another process finished it while this step waited.
        CommandResult::Nothing(text) if matches!(last, Some(Finish::Aborted | Finish::Refused)) => {
            format!("{text}, and the pool is not repaired\nhint: {RESTART}")
        }
        CommandResult::Nothing(text) => {
            write(&format!("{text}; nothing to do\n"));
            return Ok(0);
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
        let refused = |step| {
            let ending = CommandResult::Stopped(RunOutcome::Finished(Finish::Refused));
            verdict(ending, Some(Finish::Refused), Some(step), Some("it is of another run"))
        };
        assert_eq!(refused(Step::Recheck).ok(), Some(0));
        let failure = refused(Step::Snapshot).unwrap_err();
        assert!(failure.text().contains("another run"), "{}", failure.text());
    }

    #[test]
    fn step_succeeds_only_if_the_pool_is_repaired_or_healthy() {
        let code =
            |ending, last| verdict(ending, last, None, None).map_err(|failure| failure.text());
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
