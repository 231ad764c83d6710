//! `mooring repair abort`.

use mooring_redact::printable;

use super::resume;
use crate::output::failure::CommandFailure;
use crate::workflows::repair::confirm::show_target;
use crate::workflows::repair::formats::RunOutput;
use crate::workflows::repair::session::RepairSession;
use crate::workflows::runs::{Signals, write};

/// Rolls back an unfinished run as far as possible.
pub(crate) async fn abort(
    session: &mut RepairSession<'_>,
    signals: Signals,
    yes: bool,
    dry_run: bool,
    output: &RunOutput,
) -> Result<u8, CommandFailure> {
    let operator = &mut session.operator;
    let Some(state) = resume::find(operator, dry_run, output, "abort").await? else { return Ok(0) };
    if let Some(state) = &state {
        write(&format!("Run {} is unfinished, at {}.\n", printable(&state.id), state.position()));
        show_target(operator, "This rolls back the repair of", None).await;
        if yes {
            session.ask_protected()?;
        } else {
            session.ask("abort --yes")?;
        }
    }
    session
        .drive(signals, output, async |operator, watcher, say| operator.abort(watcher, say).await)
        .await
}
