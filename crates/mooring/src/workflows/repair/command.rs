//! The commands, each with the operator of its target.

use std::process::ExitCode;

use super::apply::{apply, detect, plan};
use super::arguments::{RepairArguments, RepairCommand, ResumeArguments};
use super::context::ContextCluster;
use super::pipeline::pipeline;
use super::resume::abort;
use super::session::with_session;
use super::settings;
use crate::output::PlanFormat;
use crate::output::failure::CommandFailure;
use crate::workflows::runs::{announce_dry_run, is_dry_run};

pub(crate) fn repair(arguments: &RepairArguments) -> ExitCode {
    let done = match &arguments.command {
        None => pipeline(arguments),
        Some(command) => run(command),
    };
    done.map_or_else(|failure| failure.report(), ExitCode::from)
}

fn run(command: &RepairCommand) -> Result<u8, CommandFailure> {
    let by_variable = is_dry_run()?;
    let limit = command.limit(by_variable);
    let context = ContextCluster::find(command, limit)?;
    let context = context.as_ref();
    let (detection, policies, dry_run) = match command {
        RepairCommand::Detect { detection, .. } => (Some(detection), None, false),
        RepairCommand::Plan { detection, policies, .. } => (Some(detection), Some(policies), false),
        RepairCommand::Apply { detection, policies, dry_run, .. }
        | RepairCommand::Resume(ResumeArguments { detection, policies, dry_run, .. }) => {
            (Some(detection), Some(policies), *dry_run || by_variable)
        }
        RepairCommand::Abort { dry_run, .. } => (None, None, *dry_run || by_variable),
        RepairCommand::Status(_) => (None, None, false),
    };
    announce_dry_run(dry_run);
    let settings = settings::settings(command.target(), detection, policies, context)?;
    with_session(command.target(), limit, context, settings, async |session| match command {
        RepairCommand::Detect { output, exit_zero, .. } => {
            detect(session, *output, *exit_zero).await
        }
        RepairCommand::Plan { output, .. } => plan(session, None, *output).await,
        RepairCommand::Apply { approval, output, .. } if dry_run => {
            plan(session, approval.plan_hash.as_ref(), *output).await
        }
        RepairCommand::Apply { approval, output: PlanFormat::Answer(output), .. } => {
            Box::pin(apply(session, approval.plan_hash.as_ref(), *output)).await
        }
        RepairCommand::Apply { output: PlanFormat::Mermaid, .. } => Err(CommandFailure::usage(
            "-o mermaid is for plans only\nhint: use `mooring repair plan` or `apply --dry-run`"
                .to_owned(),
        )),
        RepairCommand::Resume(arguments) => arguments.run(session, dry_run).await,
        RepairCommand::Abort { yes, output, .. } => abort(session, *yes, dry_run, *output).await,
        RepairCommand::Status(arguments) => arguments.run(session).await,
    })
}
