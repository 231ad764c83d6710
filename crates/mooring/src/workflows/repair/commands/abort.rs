//! `mooring repair abort`.

use mooring_redact::printable;
use mooring_repair::runtime::{CommandResult, Operator};

use super::resume;
use crate::output::failure::CommandFailure;
use crate::workflows::repair::confirm::{ask, ask_protected, show_target};
use crate::workflows::repair::exit;
use crate::workflows::repair::formats::RunOutput;
use crate::workflows::repair::progress::{new_progress, show_progress};
use crate::workflows::repair::show::Flags;
use crate::workflows::runs::{Signals, print_once, write};

pub(crate) struct Abort<'a> {
    pub(crate) yes: bool,
    /// The context whose changes are confirmed on a terminal, also with `--yes`.
    pub(crate) protected: Option<&'a str>,
    pub(crate) dry_run: bool,
    pub(crate) output: &'a RunOutput,
    pub(crate) flags: Flags<'a>,
}

/// Rolls back an unfinished run as far as possible.
pub(crate) async fn abort(
    operator: &mut Operator,
    signals: Signals,
    request: &Abort<'_>,
) -> Result<u8, CommandFailure> {
    let Abort { yes, protected, dry_run, output, flags } = *request;
    let Some(state) = resume::find(operator, dry_run, output, "abort").await? else { return Ok(0) };
    if let Some(state) = &state {
        write(&format!("Run {} is unfinished, at {}.\n", printable(&state.id), state.position()));
        show_target(operator, "This rolls back the repair of", None).await;
        if yes {
            ask_protected(operator, protected)?;
        } else {
            ask(operator, "abort --yes")?;
        }
    }
    let mut progress = new_progress(operator, "Rollback of the repair of").await;
    let watcher =
        Box::new(|state: &_, action: &_, now| show_progress(&mut progress, state, action, now));
    let mut say = print_once();
    let run = Box::pin(operator.abort(watcher, &mut say));
    let ending = signals.run(run, CommandResult::Resumable).await;
    progress.end();
    let done = exit::end(operator, ending, output, flags).await;
    progress.notify_end(&done).await;
    done
}
