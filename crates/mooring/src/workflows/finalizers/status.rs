//! `mooring finalizers status`.

use mooring_workflow::status::RunStatus;

use super::arguments::{RUN, StatusOutput};
use super::session::FinalizerSession;
use super::show::{content, former_status, print_content, print_run, status_screen};
use crate::about::schema::{ensure_document, is_former};
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, print_document, published};
use crate::workflows::runs::{RunsReading, is_wrong, run_status, watch_runs};

pub(crate) async fn status(
    session: &FinalizerSession,
    is_watched: bool,
    exit_zero: bool,
    output: &StatusOutput,
) -> Result<u8, CommandFailure> {
    let is_document = output.output.is_document();
    ensure_document(output.schema.as_deref(), is_document)?;
    if is_watched {
        return follow(session, exit_zero, output).await;
    }
    let journal = session.wait_for(session.remover.status()).await;
    let journal = journal.map_err(|why| session.unreadable(why))?;
    let former = session.remover.former_run().await;
    let former = former.as_deref();
    let runs: Vec<RunStatus> = run_status(&journal)?.into_iter().collect();
    let is_yaml = output.output == AnswerFormat::Yaml;
    if !is_document {
        let is_wide = output.output == AnswerFormat::Wide;
        let screen = status_screen(&journal, &runs, former, session.cluster(), is_wide);
        print_run(&screen, &runs, output.output)?;
    } else if is_former(output.schema.as_deref(), RUN) {
        print_document(&former_status(&journal, former)?, is_yaml)?;
    } else {
        print_content(session, &content(&journal, &runs, former)?, is_yaml).await?;
    }
    Ok(u8::from(is_wrong(&runs) && !exit_zero))
}

async fn follow(
    session: &FinalizerSession,
    exit_zero: bool,
    output: &StatusOutput,
) -> Result<u8, CommandFailure> {
    let is_wide = output.output == AnswerFormat::Wide;
    let read = async || {
        let journal = session.remover.status().await.map_err(CommandFailure::io)?;
        let runs: Vec<RunStatus> = run_status(&journal)?.into_iter().collect();
        let (identity, sources) = session.identity(None).await;
        let content = content(&journal, &runs, None)?;
        let line = published::line(&published::document(RUN, &identity, &sources, &content))?;
        let screen = status_screen(&journal, &runs, None, session.cluster(), is_wide);
        Ok(RunsReading { runs, screen, line })
    };
    let is_former = is_former(output.schema.as_deref(), RUN);
    watch_runs(output.output, is_former, exit_zero, read).await
}
