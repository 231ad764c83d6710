//! Screens and documents on stdout.

use jiff::Timestamp;
use mooring_redact::printable;
use mooring_repair::documents::{Detected, PublishedPlan};
use mooring_repair::history::summaries;
use mooring_repair::plan::{self, Plan, PlanDocument};
use mooring_repair::report::{DetectionReport, RunReport, SkippedPool};
use mooring_repair::runtime::{JournalStatus, Operator};
use mooring_repair::screens;
use mooring_repair::start_checks::may_begin;
use mooring_repair::verdict::WedgeVerdict;
use mooring_repair::workflow::{Entry, Record};
use mooring_terminal::Screen;
use mooring_workflow::published::Next;
use mooring_workflow::report::RunHistory;
use mooring_workflow::status::RunStatus;

use super::formats::{
    DETECTION, DetectFormat, DetectOutput, PLAN, PlanFormat, PlanOutput, RUN, RunFormat, RunOutput,
};
use crate::about::schema::{ensure_document, is_former};
use crate::output::failure::CommandFailure;
use crate::output::published;
use crate::output::show::{print, print_names};
use crate::output::{print_document, print_markdown, print_screen};
use crate::workflows::runs::{write, write_screen};

/// Flags of a further command on a pool.
pub(crate) type Flags<'a> = &'a dyn Fn(&str) -> String;

pub(crate) async fn detection(
    operator: &mut Operator,
    (reports, skipped): (&[DetectionReport], &[SkippedPool]),
    output: &DetectOutput,
    flags: Flags<'_>,
) -> Result<(), CommandFailure> {
    let is_document = matches!(output.output, DetectFormat::Json | DetectFormat::Yaml);
    ensure_document(output.schema.as_deref(), is_document)?;
    let is_yaml = output.output == DetectFormat::Yaml;
    if is_former(output.schema.as_deref(), DETECTION) {
        return print_document(&reports.first(), is_yaml);
    }
    let next = detection_next(reports, flags);
    let screen = |is_wide| screens::detection(reports, skipped, &next, is_wide);
    match output.output {
        DetectFormat::Table => print_screen(&screen(false)),
        DetectFormat::Wide => print_screen(&screen(true)),
        DetectFormat::Markdown => print_markdown(&screen(false)),
        DetectFormat::Name => print_names(wedged(reports).map(|report| report.pool.as_str())),
        DetectFormat::Json | DetectFormat::Yaml => {
            let content = Detected::new(reports, skipped, next);
            let identity = operator.identity().await;
            let document = published::document(DETECTION, &identity, operator.sources(), &content);
            print_document(&document, is_yaml)
        }
    }
}

/// Writes the verdict and its signs to stderr.
pub(super) fn verdict(report: &DetectionReport) {
    write_screen(&screens::detection(std::slice::from_ref(report), &[], &[], false));
}

/// Returns the reports of pools that are wedged or suspected.
fn wedged(reports: &[DetectionReport]) -> impl Iterator<Item = &DetectionReport> {
    let is_bad = |verdict| matches!(verdict, WedgeVerdict::Confirmed | WedgeVerdict::Suspect);
    reports.iter().filter(move |report| is_bad(report.detection.verdict))
}

fn detection_next(reports: &[DetectionReport], flags: Flags<'_>) -> Vec<Next> {
    let plan = |report: &DetectionReport| {
        let command = format!("mooring repair plan{}", flags(&report.pool));
        Next::new(command, "steps and checks; changes nothing")
    };
    wedged(reports).map(plan).collect()
}

/// Prints a plan with the report of the same reads.
pub(crate) async fn plan(
    operator: &mut Operator,
    plan: &Plan,
    report: &DetectionReport,
    output: &PlanOutput,
    flags: Flags<'_>,
) -> Result<(), CommandFailure> {
    let is_document = matches!(output.output, PlanFormat::Json | PlanFormat::Yaml);
    ensure_document(output.schema.as_deref(), is_document)?;
    let is_yaml = output.output == PlanFormat::Yaml;
    let next = || plan_next(operator, plan, report, flags);
    match output.output {
        PlanFormat::Table => print_screen(&screens::plan(plan, report, &next(), false)),
        PlanFormat::Wide => print_screen(&screens::plan(plan, report, &next(), true)),
        PlanFormat::Markdown => print(plan::markdown(plan).as_bytes()),
        PlanFormat::Name => print_names([plan.pool.as_str()]),
        PlanFormat::Mermaid => print(plan::mermaid(plan).as_bytes()),
        PlanFormat::Json | PlanFormat::Yaml if is_former(output.schema.as_deref(), PLAN) => {
            print_document(plan, is_yaml)
        }
        PlanFormat::Json | PlanFormat::Yaml => {
            let content = PublishedPlan::new(plan, report.detection.verdict, next());
            let identity = operator.identity().await;
            let document = published::document(PLAN, &identity, operator.sources(), &content);
            print_document(&document, is_yaml)
        }
    }
}

/// Returns `apply` only if it would start.
pub(crate) fn plan_next(
    operator: &Operator,
    plan: &Plan,
    report: &DetectionReport,
    flags: Flags<'_>,
) -> Vec<Next> {
    let flags = flags(&plan.pool);
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
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunContent<'a> {
    pub(crate) runs: Vec<PublishedRun<'a>>,
    pub(crate) earlier: &'a [Earlier],
}

/// A run with the pool that it recreates, whose only copy may be the journal.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PublishedRun<'a> {
    #[serde(flatten)]
    status: &'a RunStatus,
    /// Body of the recreated pool, as the journal has it: evidence, not an approval.
    pool_body: Option<&'a serde_json::Value>,
}

impl<'a> PublishedRun<'a> {
    pub(crate) fn new(status: &'a RunStatus, records: &'a [Record]) -> Self {
        Self { status, pool_body: newest_plan(records).map(|plan| &plan.pool_body) }
    }
}

/// An earlier run of a pool.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Earlier {
    pub(crate) pool: String,
    pub(crate) run_id: String,
    pub(crate) state: String,
    pub(crate) started_at: Timestamp,
    pub(crate) last_at: Timestamp,
}

/// Returns the status of the last run of a journal.
pub(crate) fn run_status(status: &JournalStatus) -> Result<Option<RunStatus>, CommandFailure> {
    let history =
        RunHistory::read(&status.records).map_err(|error| CommandFailure::io(error.to_string()))?;
    Ok(history.map(|history| {
        RunStatus::new(history, status.place.clone(), status.lock.as_ref(), Timestamp::now())
    }))
}

/// Prints the last run of a journal, after a command that drove it.
pub(crate) async fn report(
    operator: &mut Operator,
    status: &JournalStatus,
    output: &RunOutput,
) -> Result<(), CommandFailure> {
    let is_document = matches!(output.output, RunFormat::Json | RunFormat::Yaml);
    ensure_document(output.schema.as_deref(), is_document)?;
    let is_yaml = output.output == RunFormat::Yaml;
    let former =
        || RunReport::of(&status.records).map_err(|error| CommandFailure::io(error.to_string()));
    if is_document && is_former(output.schema.as_deref(), RUN) {
        return print_document(&former()?, is_yaml);
    }
    let Some(run) = run_status(status)? else { return Ok(()) };
    match output.output {
        RunFormat::Markdown => {
            print(former()?.map(|report| report.markdown()).unwrap_or_default().as_bytes())
        }
        RunFormat::Name => print_names([run.subject.name()]),
        RunFormat::Table | RunFormat::Wide => {
            print_screen(&run_screen(&run, &operator.settings().target.cluster))
        }
        RunFormat::Json | RunFormat::Yaml => {
            let runs = vec![PublishedRun::new(&run, &status.records)];
            let content = RunContent { runs, earlier: &[] };
            let identity = operator.identity().await;
            print_document(
                &published::document(RUN, &identity, operator.sources(), &content),
                is_yaml,
            )
        }
    }
}

/// Prints the document of a journal whose run is not driven; nothing for other formats.
pub(crate) async fn unchanged(
    operator: &mut Operator,
    status: &JournalStatus,
    output: &RunOutput,
) -> Result<(), CommandFailure> {
    let is_yaml = match output.output {
        RunFormat::Json => false,
        RunFormat::Yaml => true,
        RunFormat::Table | RunFormat::Wide | RunFormat::Markdown | RunFormat::Name => {
            return Ok(());
        }
    };
    if is_former(output.schema.as_deref(), RUN) {
        return print_document(&former_status(Some(status), false)?, is_yaml);
    }
    let run = run_status(status)?;
    let runs = run.iter().map(|run| PublishedRun::new(run, &status.records)).collect();
    let content = RunContent { runs, earlier: &[] };
    let identity = operator.identity().await;
    print_document(&published::document(RUN, &identity, operator.sources(), &content), is_yaml)
}

/// Returns `mooring.repair.status/v1`.
pub(crate) fn former_status(
    status: Option<&JournalStatus>,
    all: bool,
) -> Result<serde_json::Value, CommandFailure> {
    let records = status.map(|status| status.records.as_slice()).unwrap_or_default();
    let found = RunReport::of(records).map_err(|error| CommandFailure::io(error.to_string()))?;
    let runs = if all { summaries(records) } else { Vec::new() };
    Ok(serde_json::json!({
        "schema": "mooring.repair.status/v1", "journal": status.map(|status| &status.place),
        "run": found, "plan": newest_plan(records), "runs": runs,
        "lock": status.and_then(|status| status.lock.as_ref()),
    }))
}

/// Returns the state of a run as a sentence, with its steps and what remains.
pub(crate) fn run_screen(run: &RunStatus, cluster: &str) -> Screen {
    let mut screen = Screen::default();
    let (mark, text) = screens::run_sentence(run, cluster, Timestamp::now());
    screen.marked(mark, text);
    mooring_workflow::screens::details(&mut screen, run);
    screen
}

/// Returns the latest plan of the journal: evidence, not an approval.
fn newest_plan(records: &[Record]) -> Option<&PlanDocument> {
    records.iter().rev().find_map(|record| match &record.entry {
        Entry::RunStarted(session) | Entry::Resumed(session) => Some(&*session.plan),
        _ => None,
    })
}

impl super::formats::ApplyOutput {
    /// Returns the output of a dry run.
    pub(crate) fn plan(&self) -> PlanOutput {
        let schema = self.schema.clone().filter(|schema| schema.contains(".plan/"));
        PlanOutput { output: self.output, schema }
    }

    /// Returns the output of a run; plans alone can be diagrams.
    pub(crate) fn run(&self) -> Result<RunOutput, CommandFailure> {
        let output = match self.output {
            PlanFormat::Table => RunFormat::Table,
            PlanFormat::Wide => RunFormat::Wide,
            PlanFormat::Json => RunFormat::Json,
            PlanFormat::Yaml => RunFormat::Yaml,
            PlanFormat::Markdown => RunFormat::Markdown,
            PlanFormat::Name => RunFormat::Name,
            PlanFormat::Mermaid => {
                return Err(CommandFailure::usage(
                    "-o mermaid is for plans only\nhint: use `mooring repair plan` or `apply --dry-run`"
                        .to_owned(),
                ));
            }
        };
        let schema = self.schema.clone().filter(|schema| !schema.contains(".plan/"));
        Ok(RunOutput { output, schema })
    }
}
