//! `mooring finalizers status`.

use mooring_workflow::status::RunStatus;

use super::arguments::{RUN, StatusOutput};
use super::session::FinalizerSession;
use super::show::{content, print_content, print_run, status_screen};
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, published};
use crate::workflows::runs::{RunsReading, is_wrong, run_status, watch_runs};

pub(crate) async fn status(
    session: &FinalizerSession,
    is_watched: bool,
    exit_zero: bool,
    output: &StatusOutput,
) -> Result<u8, CommandFailure> {
    if is_watched {
        return follow(session, exit_zero, output).await;
    }
    let journal = session.wait_for(session.remover.status()).await;
    let journal = journal.map_err(|why| session.unreadable(why))?;
    let runs: Vec<RunStatus> = run_status(&journal).into_iter().collect();
    let is_yaml = output.output == AnswerFormat::Yaml;
    if output.output.is_document() {
        print_content(session, &content(&journal, &runs), is_yaml).await?;
    } else {
        let is_wide = output.output == AnswerFormat::Wide;
        let screen = status_screen(&journal, &runs, session.cluster(), is_wide);
        print_run(&screen, &runs, output.output)?;
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
        let runs: Vec<RunStatus> = run_status(&journal).into_iter().collect();
        let (identity, sources) = session.identity(None).await;
        let content = content(&journal, &runs);
        let line = published::line(&published::document(RUN, &identity, &sources, &content))?;
        let screen = status_screen(&journal, &runs, session.cluster(), is_wide);
        Ok(RunsReading { runs, screen, line })
    };
    watch_runs(output.output, exit_zero, read).await
}
