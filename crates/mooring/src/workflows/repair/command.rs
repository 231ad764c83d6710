//! The commands, each with the operator of its target.

use std::process::ExitCode;
use std::time::Duration;

use mooring_arm::BudgetLimits;
use mooring_repair::runtime::Operator;
use mooring_repair::settings::Settings;

use super::arguments::{RepairArguments, RepairCommand, TargetArguments};
use super::commands::abort::{Abort, abort};
use super::commands::apply::{apply, plan};
use super::commands::detect::detect;
use super::commands::pipeline;
use super::commands::resume::Resume;
use super::commands::status::Status;
use super::connect::operator;
use super::context::ContextCluster;
use super::formats::RUN;
use super::settings;
use crate::about::schema::is_former;
use crate::cluster::{AzureLimit, connect::azure_client};
use crate::output::failure::CommandFailure;
use crate::process::build_runtime;
use crate::workflows::runs::{ReadLimit, Signals, dry_run};

/// Limit of all ways to sign in.
const SIGN_IN: Duration = Duration::from_secs(10);

pub(crate) fn repair(arguments: &RepairArguments) -> ExitCode {
    let done = match &arguments.command {
        None => pipeline::pipeline(arguments),
        Some(command) => run(command),
    };
    done.map_or_else(|failure| failure.report(), ExitCode::from)
}

fn run(command: &RepairCommand) -> Result<u8, CommandFailure> {
    let dry_run_variable = dry_run::from_environment()?;
    let limit = command.limit();
    let context = ContextCluster::find(command, limit)?;
    let context = context.as_ref();
    let protected = context.and_then(ContextCluster::protected);
    match command {
        RepairCommand::Detect { target, detection, output, .. } => {
            let settings = settings::settings(target, Some(detection), None, context)?;
            with_operator(target, context, limit, settings, async |operator, _| {
                detect(operator, target, limit, output).await
            })
        }
        RepairCommand::Plan { target, detection, policies, output, .. } => {
            let settings = settings::settings(target, Some(detection), Some(policies), context)?;
            let flags = |pool: &str| target.repeated(pool);
            with_operator(target, context, limit, settings, async |operator, _| {
                plan(operator, limit, output, &flags).await
            })
        }
        RepairCommand::Apply { target, detection, policies, approval, dry_run, output } => {
            let dry_run = *dry_run || dry_run_variable;
            dry_run::announce(dry_run);
            let settings = settings::settings(target, Some(detection), Some(policies), context)?;
            let flags = |pool: &str| target.repeated(pool);
            with_operator(target, context, limit, settings, async |operator, signals| {
                if dry_run {
                    return plan(operator, limit, &output.plan(), &flags).await;
                }
                let output = output.run()?;
                let token = approval.plan_hash.as_ref();
                Box::pin(apply(operator, signals, token, protected, &output, &flags)).await
            })
        }
        RepairCommand::Resume { target, detection, policies, yes, plan_hash, dry_run, output } => {
            let dry_run = *dry_run || dry_run_variable;
            dry_run::announce(dry_run);
            let settings = settings::settings(target, Some(detection), Some(policies), context)?;
            let (yes, token) = (*yes, plan_hash.as_ref());
            let flags = &|pool: &str| target.repeated(pool);
            let asked = Resume { yes, token, protected, dry_run, output, flags };
            with_operator(target, context, limit, settings, async |operator, signals| {
                asked.run(operator, signals).await
            })
        }
        RepairCommand::Abort { target, yes, dry_run, output } => {
            let dry_run = *dry_run || dry_run_variable;
            dry_run::announce(dry_run);
            let settings = settings::settings(target, None, None, context)?;
            with_operator(target, context, limit, settings, async |operator, signals| {
                let flags = &|pool: &str| target.repeated(pool);
                let request = Abort { yes: *yes, protected, dry_run, output, flags };
                abort(operator, signals, &request).await
            })
        }
        RepairCommand::Status { target, all, watch, exit_zero, output, .. } => {
            let settings = settings::settings(target, None, None, context)?;
            // The earlier shape has one run.
            let is_one = target.pool.is_some() || is_former(output.schema.as_deref(), RUN);
            let pool = is_one.then(|| target.pool());
            let (all, watch, exit_zero) = (*all, *watch, *exit_zero);
            let flags = &|pool: &str| target.repeated(pool);
            let status = Status { pool, all, watch, exit_zero, limit, output, flags };
            with_operator(target, context, limit, settings, async |operator, _| {
                status.run(operator).await
            })
        }
    }
}

fn with_operator(
    target: &TargetArguments,
    context: Option<&ContextCluster>,
    limit: Option<ReadLimit>,
    settings: Settings,
    act: impl AsyncFnOnce(&mut Operator, Signals) -> Result<u8, CommandFailure>,
) -> Result<u8, CommandFailure> {
    let client = azure_client(None, BudgetLimits::default())?;
    let runtime = build_runtime()?;
    if let Some(limit) = limit {
        let sign_in =
            async { AzureLimit::start_required(SIGN_IN.min(limit.timeout)).sign_in(&client).await };
        runtime.block_on(sign_in)?;
    }
    runtime.block_on(ReadLimit::apply(limit, async {
        // With a context, credentials are those of its cluster in Azure.
        let file = target.kubeconfig.as_deref().filter(|_| !target.has_context());
        if let Some(context) = context {
            let (mut by_azure, _) = operator(&client, None, settings.clone())?;
            context.prove(&mut by_azure).await?;
        }
        let (mut operator, signals) = operator(&client, file, settings)?;
        act(&mut operator, signals).await
    }))
}
