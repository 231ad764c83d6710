//! Screens and documents on stdout.

use jiff::Timestamp;
use mooring_finalizers::commands::JournalStatus;
use mooring_finalizers::documents::PublishedPlan;
use mooring_finalizers::plan::{Plan, PlannedObject};
use mooring_finalizers::screens;
use mooring_finalizers::workflow::RemovalVerdict;
use mooring_terminal::{Mark, Screen, Text};
use mooring_workflow::CheckResult;
use mooring_workflow::plural::counted;
use mooring_workflow::published::Next;
use mooring_workflow::status::RunStatus;
use serde::Serialize;

use super::arguments::{PLAN, PlanOutput, RUN, RunOutput};
use super::session::FinalizerSession;
use crate::output::failure::CommandFailure;
use crate::output::published;
use crate::output::show::{print, print_names};
use crate::output::{AnswerFormat, PlanFormat, print_document, print_markdown, print_screen};
use crate::workflows::runs::{format_lock, run_status};

pub(crate) async fn plan(
    session: &FinalizerSession,
    plan: &Plan,
    output: &PlanOutput,
) -> Result<(), CommandFailure> {
    let PlanFormat::Answer(format) = output.output else {
        return print(plan.mermaid().as_bytes());
    };
    let is_yaml = format == AnswerFormat::Yaml;
    let next = next(session, plan).await;
    let screen = |is_wide| screens::plan(plan, session.cluster(), Some(&next), is_wide);
    match format {
        AnswerFormat::Table => print_screen(&screen(false)),
        AnswerFormat::Wide => print_screen(&screen(true)),
        AnswerFormat::Markdown => print_markdown(&screen(false)),
        AnswerFormat::Name => print(objects(plan).as_bytes()),
        AnswerFormat::Json | AnswerFormat::Yaml => {
            let content = PublishedPlan::new(plan, next.clone());
            let (identity, sources) = session.identity(Some(&plan.cluster)).await;
            print_document(&published::document(PLAN, &identity, &sources, &content), is_yaml)
        }
    }
}

/// Returns the objects whose finalizers block their deletion, as kubectl takes them.
fn objects(plan: &Plan) -> String {
    let blocking = plan.objects.iter().filter(|one| !one.strip.is_empty() || !one.keep.is_empty());
    let line = |one: &PlannedObject| {
        let target = &one.object.target;
        format!("{}/{}\n", target.resource, target.name)
    };
    blocking.map(line).collect()
}

/// Returns `apply` only if it would start, and `resume` after a kill. If no operator was selected and nothing is found, returns
/// plans for the API groups that have stuck objects.
async fn next(session: &FinalizerSession, plan: &Plan) -> Vec<Next> {
    let is_unfinished = session.remover.has_unfinished_run().await;
    if plan.nothing_to_do && !is_unfinished && session.is_default {
        let stuck = session.wait_for(session.remover.stuck_groups()).await.into_iter();
        let next = stuck.map(|(group, count)| {
            let command = format!("mooring finalizers plan --group {group}{}", session.flags);
            Next::new(
                command,
                format!("{} with finalizers, being deleted", counted(count, "object")),
            )
        });
        return next.collect();
    }
    if !is_unfinished && plan.nothing_to_do || !plan.checks.iter().all(CheckResult::allows_run) {
        return Vec::new();
    }
    let prompt = format!("prompts for {}/{}", session.cluster(), session.profile);
    if is_unfinished {
        let command = format!("mooring finalizers resume{}", session.flags);
        return vec![Next::new(command, format!("continues the unfinished run; {prompt}"))];
    }
    vec![Next::new(format!("mooring finalizers apply{}", session.flags), prompt)]
}

/// Content of `mooring.finalizers.run/v1`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunContent<'a> {
    /// `clean` or `refused` for a command that started no run; else the state of the run.
    pub(crate) result: Option<RemovalVerdict>,
    pub(crate) plan_hash: Option<&'a str>,
    /// Explanation of a command that started no run.
    pub(crate) stopped: Option<&'a str>,
    pub(crate) runs: &'a [RunStatus],
}

/// Prints the screen of runs, as Markdown, or their profiles.
pub(crate) fn print_run(
    screen: &Screen,
    runs: &[RunStatus],
    format: AnswerFormat,
) -> Result<(), CommandFailure> {
    match format {
        AnswerFormat::Markdown => print_markdown(screen),
        AnswerFormat::Name => print_names(runs.iter().map(|run| run.subject.name())),
        _ => print_screen(screen),
    }
}

/// Reports a command that started no run.
pub(crate) async fn without_run(
    session: &FinalizerSession,
    plan_hash: &str,
    result: RemovalVerdict,
    why: Option<String>,
    output: &RunOutput,
) -> Result<(), CommandFailure> {
    let is_yaml = output.output == AnswerFormat::Yaml;
    if !output.output.is_document() {
        let mut screen = Screen::default();
        let (profile, cluster) = (&session.profile, session.cluster());
        match why {
            Some(_) => screen.sentence(
                Mark::Bad,
                format!(
                    "The removal of {profile} from {cluster} was blocked. Nothing was changed."
                ),
            ),
            None => screen.sentence(
                Mark::Good,
                format!("No resources of {profile} found in {cluster}. Nothing to do."),
            ),
        }
        return print_run(&screen, &[], output.output);
    }
    let content = RunContent {
        result: Some(result),
        plan_hash: Some(plan_hash).filter(|hash| !hash.is_empty()),
        stopped: why.as_deref(),
        runs: &[],
    };
    print_content(session, &content, is_yaml).await
}

/// Prints `mooring.finalizers.run/v1`.
pub(crate) async fn print_content(
    session: &FinalizerSession,
    content: &RunContent<'_>,
    is_yaml: bool,
) -> Result<(), CommandFailure> {
    let (identity, sources) = session.identity(None).await;
    print_document(&published::document(RUN, &identity, &sources, content), is_yaml)
}

/// Returns the content of a document about the last run.
pub(crate) fn content<'a>(journal: &JournalStatus, runs: &'a [RunStatus]) -> RunContent<'a> {
    let result = journal.runs.last.as_ref().map(RemovalVerdict::of);
    let plan_hash = runs.first().map(|run| run.plan_hash.as_str());
    RunContent { result, plan_hash, stopped: None, runs }
}

/// Prints the last run of the journal, after a command that drove it.
pub(crate) async fn report(
    session: &FinalizerSession,
    journal: &JournalStatus,
    output: &RunOutput,
) -> Result<(), CommandFailure> {
    let is_yaml = output.output == AnswerFormat::Yaml;
    let Some(run) = run_status(journal) else { return Ok(()) };
    let runs = [run];
    if !output.output.is_document() {
        return print_run(&run_screen(&runs[0], session.cluster()), &runs, output.output);
    }
    print_content(session, &content(journal, &runs), is_yaml).await
}

/// Returns the state of a run as a sentence, with its steps and what remains.
pub(crate) fn run_screen(run: &RunStatus, cluster: &str) -> Screen {
    let mut screen = Screen::default();
    let (mark, text) = screens::run_sentence(run, cluster, Timestamp::now());
    screen.marked(mark, text);
    mooring_workflow::screens::details(&mut screen, run);
    screen
}

/// Returns the screen of `status`.
pub(crate) fn status_screen(
    journal: &JournalStatus,
    runs: &[RunStatus],
    cluster: &str,
    is_wide: bool,
) -> Screen {
    let mut screen = screens::runs(runs, cluster, Timestamp::now(), is_wide);
    for run in runs {
        screen.append(run_screen(run, cluster));
    }
    screen.label("Lock", journal.lock.as_ref().map(|lock| Text::new(format_lock(lock))));
    screen
}
