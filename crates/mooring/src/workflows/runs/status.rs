//! The runs of journals, once or with `--watch`.

use jiff::Timestamp;
use mooring_terminal::Screen;
use mooring_workflow::screens::run_row;
use mooring_workflow::status::RunStatus;

use super::watch::{Frame, WatchRow, Watched, ensure_watchable, watch};
use crate::output::AnswerFormat;
use crate::output::failure::CommandFailure;

/// Returns true if a run stopped, or objects remain.
pub(crate) fn is_wrong(runs: &[RunStatus]) -> bool {
    runs.iter().any(|run| run.is_stopped() || run.state == "partially-removed")
}

/// One reading of journals.
pub(crate) struct RunsReading {
    pub(crate) runs: Vec<RunStatus>,
    pub(crate) screen: Screen,
    /// The document as one line.
    pub(crate) line: String,
}

/// Follows runs until the user ends it. Returns the exit code.
pub(crate) async fn watch_runs(
    format: AnswerFormat,
    exit_zero: bool,
    mut read: impl AsyncFnMut() -> Result<RunsReading, CommandFailure>,
) -> Result<u8, CommandFailure> {
    let is_json = ensure_watchable(format)?;
    let is_wide = format == AnswerFormat::Wide;
    let frame = async || {
        let reading = read().await.map_err(|failure| failure.text())?;
        let RunsReading { runs, screen, line } = reading;
        let rows = runs.iter().map(|run| row(run, is_wide)).collect();
        Ok((Frame { screen, line, rows }, is_wrong(&runs)))
    };
    watch(frame, Watched::JOURNAL, is_json, exit_zero).await
}

fn row(run: &RunStatus, is_wide: bool) -> WatchRow {
    let step = run.step.as_ref().map(|step| step.number);
    let (effects, stopped) = (run.effects.len(), &run.stopped);
    let screen = |has_heads| run_row(run, Timestamp::now(), is_wide, has_heads);
    WatchRow {
        key: run.subject.name().to_owned(),
        state: format!("{} {} {step:?} {effects} {stopped:?}", run.run_id, run.state),
        plain: screen(false),
        with_heads: Some(screen(true)),
    }
}
