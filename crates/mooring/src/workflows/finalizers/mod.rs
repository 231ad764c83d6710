//! `mooring finalizers`: wiring. Decisions are in `mooring-finalizers`.

mod arguments;
mod change;
mod exit;
mod session;
mod settings;
mod show;
mod target;

use std::process::ExitCode;

use crate::output::failure::CommandFailure;
use crate::workflows::runs::is_dry_run;
pub(crate) use arguments::FinalizersArguments;
use arguments::FinalizersCommand;
use change::{Begin, change};
use session::with_session;
use settings::settings;
use target::Change;

pub(crate) fn finalizers(arguments: &FinalizersArguments) -> ExitCode {
    run(&arguments.command).map_or_else(|failure| failure.report(), ExitCode::from)
}

fn run(command: &FinalizersCommand) -> Result<u8, CommandFailure> {
    is_dry_run()?;
    match command {
        FinalizersCommand::Plan { target, policy, limit, output } => {
            let settings = settings(target, Some(policy))?;
            with_session(target, Change::None, Some(*limit), settings, async |session, _| {
                let plan = session.plan(None).await?;
                exit::plan(session, &plan, output.output).await
            })
        }
        FinalizersCommand::Apply(arguments) => change(arguments, Begin::New),
        FinalizersCommand::Resume(arguments) => change(arguments, Begin::Unfinished),
        FinalizersCommand::Status { target, watch, exit_zero, limit, output } => {
            let limit = (!*watch).then_some(*limit);
            with_session(
                target,
                Change::None,
                limit,
                settings(target, None)?,
                async |session, _| show::status(session, *watch, *exit_zero, output.output).await,
            )
        }
    }
}
