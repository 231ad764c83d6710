//! The commands.

use std::process::ExitCode;

use super::arguments::{FinalizersArguments, FinalizersCommand};
use super::change::{Begin, change};
use super::session::with_session;
use super::target::Change;
use super::{exit, settings, status};
use crate::output::failure::CommandFailure;
use crate::workflows::runs::is_dry_run;

pub(crate) fn finalizers(arguments: &FinalizersArguments) -> ExitCode {
    run(&arguments.command).map_or_else(|failure| failure.report(), ExitCode::from)
}

fn run(command: &FinalizersCommand) -> Result<u8, CommandFailure> {
    is_dry_run()?;
    match command {
        FinalizersCommand::Plan { target, policy, limit, output } => {
            let limit = Some(*limit);
            let settings = settings::settings(target, Some(policy))?;
            with_session(target, Change::None, limit, settings, async |session, _| {
                let plan = session.plan(None).await?;
                exit::plan(session, &plan, output).await
            })
        }
        FinalizersCommand::Apply(arguments) => change(arguments, Begin::New),
        FinalizersCommand::Resume(arguments) => change(arguments, Begin::Unfinished),
        FinalizersCommand::Status { target, watch, exit_zero, limit, output } => {
            let limit = (!*watch).then_some(*limit);
            let settings = settings::settings(target, None)?;
            with_session(target, Change::None, limit, settings, async |session, _| {
                status::status(session, *watch, *exit_zero, output).await
            })
        }
    }
}
