//! The commands, each with the operator of its target.

use std::process::ExitCode;
use std::time::Duration;

use mooring_arm::BudgetLimits;
use mooring_repair::settings::Settings;
use mooring_workflow::published::{Source, SourceName, SourceState};
use tokio::time::{Instant, timeout_at};

use super::arguments::{RepairArguments, RepairCommand, ResumeArguments, TargetArguments};
use super::commands::abort::abort;
use super::commands::apply::{apply, plan};
use super::commands::detect::detect;
use super::commands::pipeline;
use super::context::ContextCluster;
use super::session::{RepairSession, operator};
use super::settings;
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
    let limit = command.limit(dry_run_variable);
    let context = ContextCluster::find(command, limit)?;
    let context = context.as_ref();
    let (detection, policies, dry_run) = match command {
        RepairCommand::Detect { detection, .. } => (Some(detection), None, false),
        RepairCommand::Plan { detection, policies, .. } => (Some(detection), Some(policies), false),
        RepairCommand::Apply { detection, policies, dry_run, .. }
        | RepairCommand::Resume(ResumeArguments { detection, policies, dry_run, .. }) => {
            (Some(detection), Some(policies), *dry_run || dry_run_variable)
        }
        RepairCommand::Abort { dry_run, .. } => (None, None, *dry_run || dry_run_variable),
        RepairCommand::Status(_) => (None, None, false),
    };
    dry_run::announce(dry_run);
    let settings = settings::settings(command.target(), detection, policies, context)?;
    with_session(command.target(), limit, context, settings, async |session, signals| match command
    {
        RepairCommand::Detect { output, .. } => detect(session, output).await,
        RepairCommand::Plan { output, .. } => plan(session, None, output).await,
        RepairCommand::Apply { approval, output, .. } if dry_run => {
            plan(session, approval.plan_hash.as_ref(), &output.plan()).await
        }
        RepairCommand::Apply { approval, output, .. } => {
            let output = output.run()?;
            Box::pin(apply(session, signals, approval.plan_hash.as_ref(), &output)).await
        }
        RepairCommand::Resume(arguments) => arguments.run(session, signals, dry_run).await,
        RepairCommand::Abort { yes, output, .. } => {
            abort(session, signals, *yes, dry_run, output).await
        }
        RepairCommand::Status(arguments) => arguments.run(session).await,
    })
}

fn with_session(
    target: &TargetArguments,
    limit: Option<ReadLimit>,
    context: Option<&ContextCluster>,
    settings: Settings,
    act: impl AsyncFnOnce(&mut RepairSession<'_>, Signals) -> Result<u8, CommandFailure>,
) -> Result<u8, CommandFailure> {
    let client = azure_client(None, BudgetLimits::default())?;
    let runtime = build_runtime()?;
    if let Some(limit) = limit {
        let sign_in =
            async { AzureLimit::start_required(SIGN_IN.min(limit.timeout)).sign_in(&client).await };
        runtime.block_on(sign_in)?;
    }
    let end = limit.map(|limit| Instant::now() + limit.timeout);
    runtime.block_on(ReadLimit::apply(limit, "Azure or the Kubernetes API", async {
        // With a context, credentials are those of its cluster in Azure.
        let file = target.kubeconfig.as_deref().filter(|_| !target.has_context());
        if let Some(context) = context {
            let (mut by_azure, _) = operator(&client, None, settings.clone())?;
            context.compare(by_azure.identity().await.uid.as_deref())?;
        }
        let (operator, signals) = operator(&client, file, settings)?;
        let protected = context.and_then(ContextCluster::protected);
        let mut session = RepairSession { operator, target, protected, limit };
        let (Some(limit), Some(end)) = (limit, end) else {
            return act(&mut session, signals).await;
        };
        let done = timeout_at(end, act(&mut session, signals)).await;
        done.unwrap_or_else(|_| Err(limit.late(&unanswered(&session.operator.sources()))))
    }))
}

/// Returns the services that have not answered.
fn unanswered(sources: &[Source]) -> String {
    let silent = sources.iter().filter(|source| source.state != SourceState::Read);
    let names: Vec<_> = silent.map(|source| service(source.name)).collect();
    if names.is_empty() { "Azure or the Kubernetes API".to_owned() } else { names.join(" and ") }
}

fn service(source: SourceName) -> &'static str {
    if source == SourceName::Cluster { "the Kubernetes API" } else { source.as_str() }
}
