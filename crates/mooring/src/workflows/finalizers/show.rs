//! Plans and runs on stdout.

use jiff::Timestamp;
use mooring_finalizers::commands::JournalStatus;
use mooring_finalizers::documents::PublishedPlan;
use mooring_finalizers::plan::{Plan, PlannedObject};
use mooring_finalizers::screens;
use mooring_finalizers::workflow::RemovalVerdict;
use mooring_terminal::{Mark, Screen, Text};
use mooring_workflow::plural::counted;
use mooring_workflow::published::Next;
use mooring_workflow::status::RunStatus;
use serde::Serialize;

use super::arguments::{PLAN, RUN};
use super::session::FinalizerSession;
use crate::output::failure::CommandFailure;
use crate::output::published::{document, line};
use crate::output::show::{print, print_answer};
use crate::output::{AnswerFormat, PlanFormat};
use crate::workflows::runs::{RunsReading, format_lock, is_wrong, run_status, watch_runs};

pub(super) async fn plan(
    session: &FinalizerSession,
    plan: &Plan,
    format: PlanFormat,
) -> Result<(), CommandFailure> {
    let PlanFormat::Answer(format) = format else {
        return print(plan.mermaid().as_bytes());
    };
    let next = next(session, plan).await;
    let (identity, sources) = session.about(format, Some(&plan.cluster)).await;
    // Objects whose finalizers block their deletion, as kubectl takes them.
    let is_blocking = |one: &&PlannedObject| !one.strip.is_empty() || !one.keep.is_empty();
    let blocking = plan.objects.iter().filter(is_blocking);
    let names: Vec<String> = blocking.map(|one| one.object.target.short_name()).collect();
    print_answer(
        format,
        |is_wide| screens::plan(plan, session.cluster(), Some(&next), is_wide),
        None,
        || document(PLAN, &identity, &sources, PublishedPlan::new(plan, &next)),
        names.iter().map(String::as_str),
    )
}

/// Returns `apply` only if it would start, and `resume` after a kill. If no operator was selected and nothing is found, returns
/// plans for the API groups that have stuck objects.
async fn next(session: &FinalizerSession, plan: &Plan) -> Vec<Next> {
    let flags = &session.flags;
    let is_unfinished = session.remover.has_unfinished_run().await;
    if plan.nothing_to_do && !is_unfinished && session.is_default {
        let stuck = session.wait_for(session.remover.stuck_groups()).await.into_iter();
        let next = stuck.map(|(group, count)| {
            let command = format!("mooring finalizers plan --group {group}{flags}");
            let count = counted(count, "object");
            Next::new(command, format!("{count} with finalizers, being deleted"))
        });
        return next.collect();
    }
    if !is_unfinished && plan.nothing_to_do || plan.blocking().is_some() {
        return Vec::new();
    }
    let prompt = format!("prompts for {}", session.typed_name());
    vec![if is_unfinished {
        let purpose = format!("continues the unfinished run; {prompt}");
        Next::new(format!("mooring finalizers resume{flags}"), purpose)
    } else {
        Next::new(format!("mooring finalizers apply{flags}"), prompt)
    }]
}

/// Content of `mooring.finalizers.run/v1`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunContent<'a> {
    /// `clean` or `refused` for a command that started no run; else the state of the run.
    result: Option<RemovalVerdict>,
    plan_hash: Option<&'a str>,
    /// Explanation of a command that started no run.
    stopped: Option<&'a str>,
    runs: &'a [RunStatus],
}

impl<'a> RunContent<'a> {
    fn of(journal: &JournalStatus, runs: &'a [RunStatus]) -> Self {
        let result = journal.runs.last.as_ref().map(RemovalVerdict::of);
        let plan_hash = runs.first().map(|run| run.plan_hash.as_str());
        Self { result, plan_hash, stopped: None, runs }
    }

    async fn print(
        &self,
        session: &FinalizerSession,
        format: AnswerFormat,
        screen: impl FnOnce(bool) -> Screen,
    ) -> Result<(), CommandFailure> {
        let (identity, sources) = session.about(format, None).await;
        let names = self.runs.iter().map(|run| run.subject.name());
        print_answer(format, screen, None, || document(RUN, &identity, &sources, self), names)
    }
}

/// Reports a command that started no run, because there is nothing to do or for a reason.
pub(super) async fn without_run(
    session: &FinalizerSession,
    plan_hash: &str,
    refused: Option<&str>,
    format: AnswerFormat,
) -> Result<(), CommandFailure> {
    let (profile, cluster) = (&session.profile, session.cluster());
    let (result, mark, text) = match refused {
        Some(_) => (
            RemovalVerdict::Refused,
            Mark::Bad,
            format!("The removal of {profile} from {cluster} was blocked. Nothing was changed."),
        ),
        None => (
            RemovalVerdict::Clean,
            Mark::Good,
            format!("No resources of {profile} found in {cluster}. Nothing to do."),
        ),
    };
    let content = RunContent {
        result: Some(result),
        plan_hash: Some(plan_hash).filter(|hash| !hash.is_empty()),
        stopped: refused,
        runs: &[],
    };
    let screen = |_| {
        let mut screen = Screen::default();
        screen.sentence(mark, text);
        screen
    };
    content.print(session, format, screen).await
}

/// Prints the last run of the journal, after a command that drove it.
pub(super) async fn report(
    session: &FinalizerSession,
    journal: &JournalStatus,
    format: AnswerFormat,
) -> Result<(), CommandFailure> {
    let Some(run) = run_status(journal) else { return Ok(()) };
    let runs = [run];
    let screen = |_| run_screen(&runs[0], session.cluster());
    RunContent::of(journal, &runs).print(session, format, screen).await
}

/// Returns the state of a run as a sentence, with its steps and what remains.
fn run_screen(run: &RunStatus, cluster: &str) -> Screen {
    let mut screen = Screen::default();
    let (mark, text) = screens::run_sentence(run, cluster, Timestamp::now());
    screen.marked(mark, text);
    mooring_workflow::screens::details(&mut screen, run);
    screen
}

/// Prints the last run, or follows it.
pub(super) async fn status(
    session: &FinalizerSession,
    is_watched: bool,
    exit_zero: bool,
    format: AnswerFormat,
) -> Result<u8, CommandFailure> {
    let screen = |journal: &JournalStatus, runs: &[RunStatus], is_wide| {
        let mut screen = screens::runs(runs, session.cluster(), Timestamp::now(), is_wide);
        for run in runs {
            screen.append(run_screen(run, session.cluster()));
        }
        screen.label("Lock", journal.lock.as_ref().map(|lock| Text::new(format_lock(lock))));
        screen
    };
    if is_watched {
        let read = async || {
            let journal = session.remover.status().await.map_err(CommandFailure::io)?;
            let runs: Vec<RunStatus> = run_status(&journal).into_iter().collect();
            let (identity, sources) = session.about(AnswerFormat::Json, None).await;
            let content = RunContent::of(&journal, &runs);
            let line = line(&document(RUN, &identity, &sources, &content))?;
            let screen = screen(&journal, &runs, format == AnswerFormat::Wide);
            Ok(RunsReading { runs, screen, line })
        };
        return watch_runs(format, exit_zero, read).await;
    }
    let journal = session.wait_for(session.remover.status()).await;
    let journal = journal.map_err(|why| session.unreadable(why))?;
    let runs: Vec<RunStatus> = run_status(&journal).into_iter().collect();
    let content = RunContent::of(&journal, &runs);
    content.print(session, format, |is_wide| screen(&journal, &runs, is_wide)).await?;
    Ok(u8::from(is_wrong(&runs) && !exit_zero))
}
