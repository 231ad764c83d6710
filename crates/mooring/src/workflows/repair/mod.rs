//! `mooring repair`: wiring. Decisions are in `mooring-repair`.

mod arguments;
mod confirm;
mod connect;
mod context;
mod exit;
mod formats;
mod leftover;
mod pipeline;
mod progress;
mod resume;
mod settings;
mod show;
mod status;

use std::process::ExitCode;
use std::time::Duration;

use mooring_arm::Limits;
use mooring_redact::printable;
use mooring_repair::report::DetectionReport;
use mooring_repair::runtime::{CommandResult, Operator};
use mooring_repair::screens;
use mooring_repair::settings::Settings;
use mooring_repair::start_checks::may_begin;
use mooring_repair::verdict::Verdict;
use mooring_workflow::approval::{Approval, ApprovalToken};

pub(crate) use arguments::RepairArguments;
use arguments::{RepairCommand, TargetArguments};
use confirm::{ask, ask_protected, no_plan, show_target};
use connect::operator;
use context::ContextCluster;
use formats::{DETECTION, DetectFormat, DetectOutput, PlanOutput, RUN, RunFormat, RunOutput};
use leftover::{ensure_no_temporary_pool, find_unfinished_run};
use progress::{new_progress, show_progress};
use resume::Resume;
use show::Flags;
pub(crate) use show::run_status;
use status::Status;

use crate::about::schema::is_former;
use crate::cluster::{AzureLimit, connect::azure_client};
use crate::output::failure::Failure;
use crate::process::build_runtime;
use crate::workflows::runs::{
    ReadLimit, Signals, dry_run, print_once, with_progress, write, write_screen,
};

/// Limit of all ways to sign in.
const SIGN_IN: Duration = Duration::from_secs(10);

pub(crate) fn repair(arguments: &RepairArguments) -> ExitCode {
    let done = match &arguments.command {
        None => pipeline::pipeline(arguments),
        Some(command) => run(command),
    };
    done.map_or_else(|failure| failure.report(), ExitCode::from)
}

fn run(command: &RepairCommand) -> Result<u8, Failure> {
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
    act: impl AsyncFnOnce(&mut Operator, Signals) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let client = azure_client(None, Limits::default())?;
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

/// Evaluates one pool, or all pools of the cluster.
async fn detect(
    operator: &mut Operator,
    target: &TargetArguments,
    limit: Option<ReadLimit>,
    output: &DetectOutput,
) -> Result<u8, Failure> {
    // The earlier shape has one pool.
    let is_one = target.pool.is_some() || is_former(output.schema.as_deref(), DETECTION);
    let (reports, skipped) = if is_one {
        (vec![with_progress(limit, operator.detect()).await], Vec::new())
    } else {
        match with_progress(limit, operator.detect_all()).await {
            Ok(all) => all,
            // The pools are unknown, so this report has the reason.
            Err(report) => (vec![report], Vec::new()),
        }
    };
    for report in &reports {
        leftover::ensure_found(report, operator)?;
    }
    let flags = |pool: &str| target.repeated(pool);
    show::detection(operator, (&reports, &skipped), output, &flags).await?;
    let verdict = Verdict::worst(reports.iter().map(|report| report.detection.verdict));
    Ok(match verdict.exit_code() {
        1 if output.exit_zero => 0,
        code => code,
    })
}

async fn plan(
    operator: &mut Operator,
    limit: Option<ReadLimit>,
    output: &PlanOutput,
    flags: Flags<'_>,
) -> Result<u8, Failure> {
    let examined = with_progress(limit, operator.examine(None, None)).await;
    let report = &examined.report;
    leftover::ensure_found(report, operator)?;
    let plan = match examined.plan {
        Ok(plan) => plan,
        Err(error) => {
            show::verdict(report);
            return Err(no_plan(&error));
        }
    };
    show::plan(operator, &plan, report, output, flags).await?;
    Ok(0)
}

async fn apply(
    operator: &mut Operator,
    signals: Signals,
    token: Option<&ApprovalToken>,
    protected: Option<&str>,
    output: &RunOutput,
    flags: Flags<'_>,
) -> Result<u8, Failure> {
    if let Some(ending) = find_unfinished_run(operator).await? {
        return Box::pin(exit::end(operator, ending, output, flags)).await;
    }
    leftover::warn_of_0_1(operator).await;
    let expires = token.map(|token| token.expires);
    let examined = with_progress(None, operator.examine(expires, None)).await;
    let report = &examined.report;
    leftover::ensure_found(report, operator)?;
    let overridden = report.detection.checks.iter().any(|check| check.overridden.is_some());
    show::verdict(report);
    if report.detection.verdict == Verdict::Healthy && !overridden {
        ensure_no_temporary_pool(report)?;
        write("nothing to do\n");
        return report_unchanged(operator, report, output, flags).await;
    }
    let plan = examined.plan.map_err(|error| no_plan(&error))?;
    let checks = &report.detection.checks;
    may_begin(&plan, checks, operator.settings())
        .map_err(|error| exit::refusal(&error, &flags(&operator.settings().target.pool)))?;
    show::warnings(&plan);
    if let Some(recent) = report.operation.as_ref().filter(|operation| operation.left_alone) {
        write(&format!("{recent}; nothing to do\n"));
        return report_unchanged(operator, report, output, flags).await;
    }
    let approval = if let Some(token) = token {
        show_target(operator, "This rebuilds", Some(&plan)).await;
        ask_protected(operator, protected)?;
        Approval::Token(token.clone())
    } else {
        // Without a journal no run starts, so there is nothing to confirm.
        operator.status().await?;
        write_screen(&screens::plan(&plan, report, &[], output.output == RunFormat::Wide));
        show_target(operator, "This rebuilds", Some(&plan)).await;
        ask(operator, "apply --yes --plan-hash HASH")?;
        Approval::Typed(plan.document.hash())
    };
    let mut progress = new_progress(operator, "Repair of").await;
    let watcher =
        Box::new(|state: &_, action: &_, now| show_progress(&mut progress, state, action, now));
    // The future is large.
    let applied = Box::pin(operator.apply(&plan, checks, approval, watcher));
    let ending = signals.run(applied, CommandResult::Resumable).await;
    progress.end();
    let done = exit::end(operator, ending, output, flags).await;
    progress.notify_end(&done).await;
    done
}

/// Reports that nothing is done.
async fn report_unchanged(
    operator: &mut Operator,
    report: &DetectionReport,
    output: &RunOutput,
    flags: Flags<'_>,
) -> Result<u8, Failure> {
    let format = match output.output {
        RunFormat::Json => DetectFormat::Json,
        RunFormat::Yaml => DetectFormat::Yaml,
        RunFormat::Table | RunFormat::Wide | RunFormat::Markdown | RunFormat::Name => {
            return Ok(0);
        }
    };
    let schema = output.schema.clone().filter(|schema| schema != RUN);
    let detect = DetectOutput { output: format, schema, exit_zero: false };
    show::detection(operator, (std::slice::from_ref(report), &[]), &detect, flags).await?;
    Ok(0)
}

struct Abort<'a> {
    yes: bool,
    /// The context whose changes are confirmed on a terminal, also with `--yes`.
    protected: Option<&'a str>,
    dry_run: bool,
    output: &'a RunOutput,
    flags: Flags<'a>,
}

/// Rolls back an unfinished run as far as possible.
async fn abort(
    operator: &mut Operator,
    signals: Signals,
    request: &Abort<'_>,
) -> Result<u8, Failure> {
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
