//! Screens and documents on stdout, and the end of a run.

use std::fmt::Write as _;

use jiff::Timestamp;
use mooring_redact::printable;
use mooring_repair::documents::{Detected, PublishedPlan};
use mooring_repair::plan::{self, Plan};
use mooring_repair::report::{DetectionReport, SkippedPool};
use mooring_repair::runtime::{CommandResult, JournalStatus};
use mooring_repair::screens;
use mooring_repair::start_checks::may_begin;
use mooring_repair::verdict::WedgeVerdict;
use mooring_repair::workflow::Run;
use mooring_terminal::Screen;
use mooring_workflow::published::Next;
use mooring_workflow::status::RunStatus;
use mooring_workflow::{Finish, Outcome, Reason, RunOutcome};
use serde::Serialize;

use super::arguments::{DETECTION, PLAN, RUN};
use super::failures::refusal;
use super::session::RepairSession;
use crate::output::failure::CommandFailure;
use crate::output::published::document;
use crate::output::show::{print, print_answer, print_warning};
use crate::output::{AnswerFormat, PlanFormat};
use crate::workflows::runs::{exit_code, run_status, write, write_screen};

pub(crate) async fn detection(
    session: &mut RepairSession<'_>,
    reports: &[DetectionReport],
    skipped: &[SkippedPool],
    format: AnswerFormat,
) -> Result<(), CommandFailure> {
    let next = detection_next(session, reports).await;
    let (identity, sources) = session.about(format).await;
    let content = Detected::new(reports, skipped, &next);
    let wedged = reports.iter().filter(|report| is_wedged(report));
    print_answer(
        format,
        |is_wide| screens::detection(reports, skipped, &next, is_wide),
        None,
        || document(DETECTION, &identity, &sources, content),
        wedged.map(|report| report.pool.as_str()),
    )
}

/// Writes the verdict and its signs to stderr.
pub(crate) fn verdict(report: &DetectionReport) {
    write_screen(&screens::detection(std::slice::from_ref(report), &[], &[], false));
}

/// Warns of signs that are unknown, for formats that have no place for them.
pub(crate) fn unknown(reports: &[DetectionReport]) {
    let checks = reports.iter().flat_map(|report| &report.detection.checks);
    for check in checks.filter(|check| check.outcome == Outcome::Unknown) {
        let why = check.detail();
        print_warning(&format!("{} of the pool is unknown: {why}", check.name));
    }
}

/// Returns true for a pool that is wedged or suspected.
fn is_wedged(report: &DetectionReport) -> bool {
    matches!(report.detection.verdict, WedgeVerdict::Confirmed | WedgeVerdict::Suspect)
}

/// Returns `resume` for a pool with an unfinished run, which may not look wedged any more.
async fn detection_next(session: &mut RepairSession<'_>, reports: &[DetectionReport]) -> Vec<Next> {
    let operator = &mut session.operator;
    let selected = operator.settings().target.pool.clone();
    let mut next = Vec::new();
    for report in reports {
        let flags = session.target.repeated(&report.pool);
        let is_healthy = report.detection.verdict == WedgeVerdict::Healthy;
        operator.select_pool(&report.pool);
        if (!is_healthy || report.temporary_pool.is_some())
            && operator.unfinished_run().await.is_some()
        {
            next.push(resume_next(&flags));
        } else if is_wedged(report) {
            let command = format!("mooring repair plan{flags}");
            next.push(Next::new(command, "steps and checks; changes nothing"));
        }
    }
    operator.select_pool(&selected);
    next
}

fn resume_next(flags: &str) -> Next {
    Next::new(format!("mooring repair resume{flags}"), "continues its unfinished run")
}

/// Prints a plan with the report of the same reads.
pub(crate) async fn plan(
    session: &mut RepairSession<'_>,
    plan: &Plan,
    report: &DetectionReport,
    format: PlanFormat,
) -> Result<(), CommandFailure> {
    let PlanFormat::Answer(format) = format else {
        return print(plan::mermaid(plan).as_bytes());
    };
    let next = plan_next(session, plan, report).await;
    let (identity, sources) = session.about(format).await;
    print_answer(
        format,
        |is_wide| screens::plan(plan, report, Some(&next), is_wide),
        Some(&|| plan::markdown(plan)),
        || document(PLAN, &identity, &sources, PublishedPlan { plan, next: &next }),
        [plan.pool.as_str()],
    )
}

/// Returns `apply` only if it would start, which it does not before an unfinished run has ended.
async fn plan_next(
    session: &mut RepairSession<'_>,
    plan: &Plan,
    report: &DetectionReport,
) -> Vec<Next> {
    let flags = session.flags();
    let operator = &mut session.operator;
    if operator.unfinished_run().await.is_some() {
        return vec![resume_next(&flags)];
    }
    let is_recent = report.operation.as_ref().is_some_and(|operation| operation.left_alone);
    if is_recent || may_begin(plan, &report.detection.checks, operator.settings()).is_err() {
        let command = format!("mooring repair detect{flags}");
        return vec![Next::new(command, "`apply` would not start; check the pool again")];
    }
    let name = format!("{}/{}", report.cluster, plan.pool);
    vec![Next::new(format!("mooring repair apply{flags}"), format!("prompts for {name}"))]
}

/// Prints warnings of checks, for runs whose plan is not printed.
pub(crate) fn warnings(plan: &Plan) {
    for check in plan.checks.iter().filter(|check| mooring_repair::checks::warns(check)) {
        write(&format!("warning: {}: {}\n", check.name, printable(&check.detail())));
    }
}

/// The last runs of journals.
#[derive(Default)]
pub(crate) struct ShownRuns {
    pub(crate) runs: Vec<RunStatus>,
    /// The body of each recreated pool, as the journal has it: evidence, not an approval. It may be the only copy.
    pool_bodies: Vec<serde_json::Value>,
    markdown: String,
    pub(crate) earlier: Vec<EarlierRun>,
}

/// An earlier run of a pool.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EarlierRun {
    pub(crate) pool: String,
    pub(crate) run_id: String,
    pub(crate) state: &'static str,
    pub(crate) started_at: Timestamp,
    pub(crate) last_at: Timestamp,
}

/// Content of `mooring.repair.run/v1`.
#[derive(Serialize)]
pub(crate) struct RunContent<'a> {
    runs: Vec<PublishedRun<'a>>,
    earlier: &'a [EarlierRun],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PublishedRun<'a> {
    #[serde(flatten)]
    status: &'a RunStatus,
    pool_body: &'a serde_json::Value,
}

impl ShownRuns {
    pub(crate) fn add(&mut self, journal: &JournalStatus) {
        let Some(run) = &journal.runs.last else { return };
        self.runs.extend(run_status(journal));
        self.pool_bodies.push(run.session.plan.pool_body.clone());
        self.markdown.push_str(&screens::run_markdown(run));
    }

    /// Adds the runs before the last one, newest first.
    pub(crate) fn add_earlier(&mut self, pool: &str, journal: &JournalStatus) {
        self.earlier.extend(journal.runs.past.iter().rev().map(|run| EarlierRun {
            pool: pool.to_owned(),
            run_id: run.id.clone(),
            state: match run.finish {
                Finish::Complete | Finish::Partial => "repaired",
                Finish::NothingToDo => "nothing-to-do",
                Finish::Refused => "refused",
                Finish::Aborted => "aborted",
            },
            started_at: run.started,
            last_at: run.last,
        }));
    }

    pub(crate) fn content(&self) -> RunContent<'_> {
        let runs = self.runs.iter().zip(&self.pool_bodies);
        let runs = runs.map(|(status, pool_body)| PublishedRun { status, pool_body });
        RunContent { runs: runs.collect(), earlier: &self.earlier }
    }

    pub(crate) async fn print(
        &self,
        session: &mut RepairSession<'_>,
        format: AnswerFormat,
        screen: impl FnOnce(bool) -> Screen,
    ) -> Result<(), CommandFailure> {
        let (identity, sources) = session.about(format).await;
        print_answer(
            format,
            screen,
            Some(&|| self.markdown.clone()),
            || document(RUN, &identity, &sources, self.content()),
            self.runs.iter().map(|run| run.subject.name()),
        )
    }
}

/// Prints the last run of a journal.
pub(crate) async fn run(
    session: &mut RepairSession<'_>,
    journal: &JournalStatus,
    format: AnswerFormat,
) -> Result<(), CommandFailure> {
    let mut shown = ShownRuns::default();
    shown.add(journal);
    let cluster = session.operator.settings().target.cluster.clone();
    let screen = |_| {
        let mut screen = Screen::default();
        for run in &shown.runs {
            screen.append(run_screen(run, &cluster));
        }
        screen
    };
    shown.print(session, format, screen).await
}

/// Returns the state of a run as a sentence, with its steps and what remains.
pub(crate) fn run_screen(run: &RunStatus, cluster: &str) -> Screen {
    let mut screen = Screen::default();
    let (mark, text) = screens::run_sentence(run, cluster, Timestamp::now());
    screen.marked(mark, text);
    mooring_workflow::screens::details(&mut screen, run);
    screen
}

impl RepairSession<'_> {
    /// Prints the report of a run that was driven. Returns the last run of the journal, if the ending depends on it.
    pub(crate) async fn report(
        &mut self,
        ending: &CommandResult,
        format: AnswerFormat,
    ) -> Result<Option<Run>, CommandFailure> {
        let begun = matches!(ending, CommandResult::Stopped(_) | CommandResult::Resumable(_));
        if !begun && !matches!(ending, CommandResult::Nothing(_)) {
            return Ok(None);
        }
        // The result is known even if the journal cannot be read again.
        let Ok(journal) = self.operator.status().await else { return Ok(None) };
        if begun && journal.runs.last.is_some() {
            run(self, &journal, format).await?;
        }
        Ok(journal.runs.last)
    }

    /// Prints the report of a run, and the next command.
    pub(crate) async fn end(
        &mut self,
        ending: CommandResult,
        format: AnswerFormat,
    ) -> Result<u8, CommandFailure> {
        let last = self.report(&ending, format).await?;
        let flags = self.flags();
        let mut next = format!("`mooring repair resume{flags}` continues");
        if last.is_some_and(|run| run.is_finished()) {
            "the run has finished; nothing left to do".clone_into(&mut next);
        } else if !matches!(
            &ending,
            CommandResult::Stopped(RunOutcome::Resumable { reason: Reason::NotUndoable, .. })
        ) {
            let _ = write!(next, ", `mooring repair abort{flags}` rolls back");
        }
        let status = format!("mooring repair status{flags}");
        exit_code(ending, &status, &next, |error| refusal(error, &flags))
    }
}
