//! `mooring finalizers status`.

use jiff::Timestamp;
use mooring_workflow::status::RunStatus;

use super::arguments::{RUN, RunFormat, StatusOutput};
use super::session::FinalizerSession;
use super::show::{content, former_status, is_document, print_run, run_status, status_screen};
use crate::about::schema::{ensure_document, is_former};
use crate::output::failure::CommandFailure;
use crate::output::print_document;
use crate::output::published;
use crate::workflows::runs::{Frame, WatchEnd, WatchRow, Watched, watch};

pub(crate) async fn status(
    session: &FinalizerSession,
    is_watched: bool,
    exit_zero: bool,
    output: &StatusOutput,
) -> Result<u8, CommandFailure> {
    let is_document = is_document(output.output);
    ensure_document(output.schema.as_deref(), is_document)?;
    if is_watched {
        return follow(session, exit_zero, output).await;
    }
    let journal = session.wait_for(session.remover.status()).await;
    let journal = journal.map_err(|why| session.unreadable(why))?;
    let former = session.remover.former_run().await;
    let former = former.as_deref();
    let runs: Vec<RunStatus> = run_status(&journal)?.into_iter().collect();
    let is_yaml = output.output == RunFormat::Yaml;
    if !is_document {
        let is_wide = output.output == RunFormat::Wide;
        let screen = status_screen(&journal, &runs, former, session.cluster(), is_wide);
        print_run(&screen, &runs, output.output)?;
    } else if is_former(output.schema.as_deref(), RUN) {
        print_document(&former_status(&journal, former)?, is_yaml)?;
    } else {
        let (identity, sources) = session.identity(None).await;
        let content = content(&journal, &runs, former)?;
        print_document(&published::document(RUN, &identity, &sources, &content), is_yaml)?;
    }
    Ok(u8::from(is_wrong(&runs) && !exit_zero))
}

/// Returns true if a run stopped, or objects remain.
fn is_wrong(runs: &[RunStatus]) -> bool {
    runs.iter().any(|run| run.is_stopped() || run.state == "partially-removed")
}

async fn follow(
    session: &FinalizerSession,
    exit_zero: bool,
    output: &StatusOutput,
) -> Result<u8, CommandFailure> {
    let is_json = match output.output {
        RunFormat::Table | RunFormat::Wide => false,
        RunFormat::Json => true,
        RunFormat::Yaml | RunFormat::Markdown | RunFormat::Name => {
            return Err(CommandFailure::usage(
                "--watch has no such format\nhint: use `-o table`, `wide` or `json`".to_owned(),
            ));
        }
    };
    if is_former(output.schema.as_deref(), RUN) {
        return Err(CommandFailure::usage(
            "--watch has no earlier shape\nhint: omit --schema".to_owned(),
        ));
    }
    let is_wide = output.output == RunFormat::Wide;
    let row = |run: &RunStatus, has_heads: bool| {
        mooring_workflow::screens::run_row(run, Timestamp::now(), is_wide, has_heads)
    };
    let mut is_wrong_now = false;
    let read = async || {
        let text = |failure: CommandFailure| failure.text().to_owned();
        let journal = session.remover.status().await?;
        let runs: Vec<RunStatus> = run_status(&journal).map_err(text)?.into_iter().collect();
        is_wrong_now = is_wrong(&runs);
        let (identity, sources) = session.identity(None).await;
        let content = content(&journal, &runs, None).map_err(text)?;
        let line = published::line(&published::document(RUN, &identity, &sources, &content))
            .map_err(text)?;
        let screen = status_screen(&journal, &runs, None, session.cluster(), is_wide);
        Ok(Frame { screen, line, rows: WatchRow::of_runs(&runs, row) })
    };
    match watch(read, Watched::JOURNAL, is_json).await? {
        WatchEnd::Interrupted => Ok(130),
        WatchEnd::Quit => Ok(u8::from(is_wrong_now && !exit_zero)),
    }
}
