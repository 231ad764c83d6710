//! Screens and documents on stdout.

use jiff::Timestamp;
use mooring_redact::printable;
use mooring_repair::documents::{Detected, PublishedPlan};
use mooring_repair::plan::{self, Plan};
use mooring_repair::report::{DetectionReport, RunReport, SkippedPool};
use mooring_repair::runtime::{JournalStatus, Operator};
use mooring_repair::screens;
use mooring_repair::start_checks::may_begin;
use mooring_repair::verdict::WedgeVerdict;
use mooring_repair::workflow::Run;
use mooring_terminal::Screen;
use mooring_workflow::published::Next;
use mooring_workflow::status::RunStatus;
use serde::Serialize;

use super::arguments::TargetArguments;
use super::formats::{DETECTION, DetectOutput, PLAN, PlanOutput, RUN, RunOutput};
use super::session::RepairSession;
use crate::output::failure::CommandFailure;
use crate::output::published;
use crate::output::show::{print, print_names};
use crate::output::{AnswerFormat, PlanFormat, print_document, print_markdown, print_screen};
use crate::workflows::runs::{run_status, write, write_screen};

pub(crate) async fn detection(
    session: &mut RepairSession<'_>,
    (reports, skipped): (&[DetectionReport], &[SkippedPool]),
    output: &DetectOutput,
) -> Result<(), CommandFailure> {
    let is_yaml = output.output == AnswerFormat::Yaml;
    let next = detection_next(&mut session.operator, reports, session.target).await;
    let screen = |is_wide| screens::detection(reports, skipped, &next, is_wide);
    match output.output {
        AnswerFormat::Table => print_screen(&screen(false)),
        AnswerFormat::Wide => print_screen(&screen(true)),
        AnswerFormat::Markdown => print_markdown(&screen(false)),
        AnswerFormat::Name => print_names(wedged(reports).map(|report| report.pool.as_str())),
        AnswerFormat::Json | AnswerFormat::Yaml => {
            let content = Detected::new(reports, skipped, next);
            print_published(&mut session.operator, DETECTION, &content, is_yaml).await
        }
    }
}

/// Prints a document about the cluster.
pub(super) async fn print_published(
    operator: &mut Operator,
    schema: &'static str,
    content: &impl Serialize,
    is_yaml: bool,
) -> Result<(), CommandFailure> {
    let identity = operator.identity().await;
    print_document(&published::document(schema, &identity, &operator.sources(), content), is_yaml)
}

/// Writes the verdict and its signs to stderr.
pub(super) fn verdict(report: &DetectionReport) {
    write_screen(&screens::detection(std::slice::from_ref(report), &[], &[], false));
}

/// Returns the reports of pools that are wedged or suspected.
fn wedged(reports: &[DetectionReport]) -> impl Iterator<Item = &DetectionReport> {
    reports.iter().filter(|report| is_wedged(report))
}

fn is_wedged(report: &DetectionReport) -> bool {
    matches!(report.detection.verdict, WedgeVerdict::Confirmed | WedgeVerdict::Suspect)
}

/// Returns `resume` for a pool with an unfinished run, which may not look wedged any more.
async fn detection_next(
    operator: &mut Operator,
    reports: &[DetectionReport],
    target: &TargetArguments,
) -> Vec<Next> {
    let selected = operator.settings().target.pool.clone();
    let mut next = Vec::new();
    for report in reports {
        let flags = target.repeated(&report.pool);
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

/// Prints a plan with the report of the same reads. `flags` select its pool.
pub(crate) async fn plan(
    operator: &mut Operator,
    plan: &Plan,
    report: &DetectionReport,
    output: &PlanOutput,
    flags: &str,
) -> Result<(), CommandFailure> {
    let PlanFormat::Answer(format) = output.output else {
        return print(plan::mermaid(plan).as_bytes());
    };
    let is_yaml = format == AnswerFormat::Yaml;
    let next = plan_next(operator, plan, report, flags).await;
    match format {
        AnswerFormat::Table => print_screen(&screens::plan(plan, report, Some(&next), false)),
        AnswerFormat::Wide => print_screen(&screens::plan(plan, report, Some(&next), true)),
        AnswerFormat::Markdown => print(plan::markdown(plan).as_bytes()),
        AnswerFormat::Name => print_names([plan.pool.as_str()]),
        AnswerFormat::Json | AnswerFormat::Yaml => {
            let content = PublishedPlan { plan, next };
            print_published(operator, PLAN, &content, is_yaml).await
        }
    }
}

/// Returns `apply` only if it would start, which it does not before an unfinished run has ended.
async fn plan_next(
    operator: &mut Operator,
    plan: &Plan,
    report: &DetectionReport,
    flags: &str,
) -> Vec<Next> {
    if operator.unfinished_run().await.is_some() {
        return vec![resume_next(flags)];
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

/// Content of `mooring.repair.run/v1`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunContent<'a> {
    pub(crate) runs: Vec<PublishedRun<'a>>,
    pub(crate) earlier: &'a [Earlier],
}

/// A run with the pool that it recreates, whose only copy may be the journal.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PublishedRun<'a> {
    #[serde(flatten)]
    status: &'a RunStatus,
    /// Body of the recreated pool, as the journal has it: evidence, not an approval.
    pool_body: Option<&'a serde_json::Value>,
}

impl<'a> PublishedRun<'a> {
    pub(crate) fn new(status: &'a RunStatus, run: Option<&'a Run>) -> Self {
        Self { status, pool_body: run.map(|run| &run.session.plan.pool_body) }
    }
}

/// An earlier run of a pool.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Earlier {
    pub(crate) pool: String,
    pub(crate) run_id: String,
    pub(crate) state: &'static str,
    pub(crate) started_at: Timestamp,
    pub(crate) last_at: Timestamp,
}

/// Prints the last run of a journal, after a command that drove it.
pub(crate) async fn report(
    operator: &mut Operator,
    status: &JournalStatus,
    output: &RunOutput,
) -> Result<(), CommandFailure> {
    let is_yaml = output.output == AnswerFormat::Yaml;
    let Some(run) = run_status(status) else { return Ok(()) };
    match output.output {
        AnswerFormat::Markdown => {
            let report = status.runs.last.as_ref().map(RunReport::of);
            print(report.map(|report| report.markdown()).unwrap_or_default().as_bytes())
        }
        AnswerFormat::Name => print_names([run.subject.name()]),
        AnswerFormat::Table | AnswerFormat::Wide => {
            print_screen(&run_screen(&run, &operator.settings().target.cluster))
        }
        AnswerFormat::Json | AnswerFormat::Yaml => {
            print_run(operator, status, Some(&run), is_yaml).await
        }
    }
}

/// Prints the document of a journal whose run is not driven; nothing for other formats.
pub(crate) async fn unchanged(
    operator: &mut Operator,
    status: &JournalStatus,
    output: &RunOutput,
) -> Result<(), CommandFailure> {
    if !output.output.is_document() {
        return Ok(());
    }
    let is_yaml = output.output == AnswerFormat::Yaml;
    print_run(operator, status, run_status(status).as_ref(), is_yaml).await
}

async fn print_run(
    operator: &mut Operator,
    status: &JournalStatus,
    run: Option<&RunStatus>,
    is_yaml: bool,
) -> Result<(), CommandFailure> {
    let runs = run.map(|run| PublishedRun::new(run, status.runs.last.as_ref()));
    let content = RunContent { runs: runs.into_iter().collect(), earlier: &[] };
    print_published(operator, RUN, &content, is_yaml).await
}

/// Returns the state of a run as a sentence, with its steps and what remains.
pub(crate) fn run_screen(run: &RunStatus, cluster: &str) -> Screen {
    let mut screen = Screen::default();
    let (mark, text) = screens::run_sentence(run, cluster, Timestamp::now());
    screen.marked(mark, text);
    mooring_workflow::screens::details(&mut screen, run);
    screen
}
