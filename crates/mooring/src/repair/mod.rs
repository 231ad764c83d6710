//! `mooring repair`: wiring. Decisions are in `mooring-repair`.

mod arguments;
mod confirm;
mod connect;
mod exit;
mod leftover;
mod pipeline;
mod progress;
mod resume;
mod settings;
mod show;

use std::process::ExitCode;

use mooring_redact::printable;
use mooring_repair::report::DetectionReport;
use mooring_repair::runtime::{CommandResult, Operator};
use mooring_repair::settings::Settings;
use mooring_repair::start_checks::may_begin;
use mooring_repair::verdict::Verdict;
use mooring_repair::workflow::Run;
use mooring_workflow::approval::{Approval, ApprovalToken};

pub(crate) use arguments::RepairArguments;
use arguments::{DetectFormat, PlanFormat, RepairCommand, RunFormat, TargetArguments};
use confirm::{ask, no_plan, show_target};
use connect::operator;
use leftover::{ensure_no_temporary_pool, find_unfinished_run};
use progress::show_progress;
use resume::Resume;

use crate::failure::Failure;
use crate::runs::{
    Progress, Signals, build_runtime, dry_run, env_var, print_once, with_progress, write,
};

pub(crate) fn repair(arguments: &RepairArguments) -> ExitCode {
    let done = match &arguments.command {
        None => pipeline::pipeline(arguments),
        Some(command) => run(command),
    };
    done.map_or_else(|failure| failure.report(), ExitCode::from)
}

fn run(command: &RepairCommand) -> Result<u8, Failure> {
    let dry_run_variable = dry_run::from_environment()?;
    match command {
        RepairCommand::Detect { target, detection, output } => {
            let settings = settings::settings(target, Some(detection), None, &env_var)?;
            with_operator(target, settings, async |operator, _| {
                let report = with_progress(operator.detect()).await;
                leftover::ensure_found(&report, operator)?;
                show::detection(&report, *output)?;
                Ok(report.exit_code())
            })
        }
        RepairCommand::Plan { target, detection, policies, output } => {
            let settings = settings::settings(target, Some(detection), Some(policies), &env_var)?;
            with_operator(target, settings, async |operator, _| plan(operator, *output).await)
        }
        RepairCommand::Apply { target, detection, policies, approval, dry_run, output } => {
            let dry_run = *dry_run || dry_run_variable;
            dry_run::announce(dry_run);
            let settings = settings::settings(target, Some(detection), Some(policies), &env_var)?;
            with_operator(target, settings, async |operator, signals| {
                if dry_run {
                    return plan(operator, *output).await;
                }
                let written = RunFormat::try_from(*output)?;
                Box::pin(apply(operator, signals, approval.plan_hash.as_ref(), written)).await
            })
        }
        RepairCommand::Resume { target, detection, policies, yes, plan_hash, dry_run, output } => {
            let dry_run = *dry_run || dry_run_variable;
            dry_run::announce(dry_run);
            let settings = settings::settings(target, Some(detection), Some(policies), &env_var)?;
            let asked = Resume { yes: *yes, token: plan_hash.as_ref(), dry_run, output: *output };
            with_operator(target, settings, async |operator, signals| {
                asked.run(operator, signals).await
            })
        }
        RepairCommand::Abort { target, yes, dry_run, output } => {
            let dry_run = *dry_run || dry_run_variable;
            dry_run::announce(dry_run);
            let settings = settings::settings(target, None, None, &env_var)?;
            with_operator(target, settings, async |operator, signals| {
                abort(operator, signals, *yes, dry_run, *output).await
            })
        }
        RepairCommand::Status { target, all, output } => {
            let settings = settings::settings(target, None, None, &env_var)?;
            with_operator(target, settings, async |operator, _| {
                let status = leftover::read_status(operator).await?;
                if status.records.is_empty() {
                    leftover::ensure_exists(operator).await?;
                }
                leftover::warn_of_0_1(operator).await;
                show::status(&status, *all, *output)?;
                if let Ok(Some(state)) = Run::replay(&status.records) {
                    // A journal of another cluster or pool shows nothing about this one.
                    operator.own(&state).map_err(Failure::io)?;
                }
                if status.records.is_empty()
                    && let Some(left) = operator.temporary_pool().await
                {
                    write(&format!("warning: {left}\nhint: pass its journal with `--journal`\n"));
                }
                Ok(0)
            })
        }
    }
}

fn with_operator(
    target: &TargetArguments,
    settings: Settings,
    act: impl AsyncFnOnce(&mut Operator, Signals) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    build_runtime()?.block_on(async {
        let (mut operator, signals) = operator(target.kubeconfig.as_deref(), settings)?;
        act(&mut operator, signals).await
    })
}

async fn plan(operator: &mut Operator, output: PlanFormat) -> Result<u8, Failure> {
    let examined = with_progress(operator.examine(None, None)).await;
    let report = &examined.report;
    leftover::ensure_found(report, operator)?;
    // The table shows why it is not certain.
    if report.detection.verdict != Verdict::Confirmed {
        write(&format!("{}\n", report.table()));
    }
    show::plan(&examined.plan.map_err(|error| no_plan(&error))?, output)?;
    if let Some(operation) = &report.operation {
        write(&format!("{operation}\n"));
    }
    write(&format!("verdict: {}\n", show::verdict(report)));
    Ok(0)
}

async fn apply(
    operator: &mut Operator,
    signals: Signals,
    token: Option<&ApprovalToken>,
    output: RunFormat,
) -> Result<u8, Failure> {
    if let Some(ending) = find_unfinished_run(operator).await? {
        return Box::pin(exit::end(operator, ending, output)).await;
    }
    show_target(operator).await;
    leftover::warn_of_0_1(operator).await;
    let expires = token.map(|token| token.expires);
    let examined = with_progress(operator.examine(expires, None)).await;
    let report = &examined.report;
    leftover::ensure_found(report, operator)?;
    let overridden = report.detection.guards.iter().any(|guard| guard.overridden.is_some());
    if report.detection.verdict == Verdict::Healthy && !overridden {
        write(&report.table());
        ensure_no_temporary_pool(report)?;
        write("nothing to do\n");
        return report_unchanged(report, output);
    }
    write(&report.table());
    let plan = examined.plan.map_err(|error| no_plan(&error))?;
    let guards = &report.detection.guards;
    may_begin(&plan, guards, operator.settings())
        .map_err(|error| exit::refusal(&error, operator.settings()))?;
    show::warnings(&plan);
    if let Some(recent) = report.operation.as_ref().filter(|operation| operation.left_alone) {
        write(&format!("{recent}; nothing to do\n"));
        return report_unchanged(report, output);
    }
    let approval = if let Some(token) = token {
        Approval::Token(token.clone())
    } else {
        // Without a journal no run starts, so there is nothing to confirm.
        operator.status().await?;
        write(&format!("\n{}\n", mooring_repair::plan::table(&plan)));
        ask(operator, "rebuild", "apply --yes --plan-hash HASH")?;
        Approval::Typed(plan.document.hash())
    };
    let mut progress = Progress::new();
    let watcher =
        Box::new(|state: &_, action: &_, now| show_progress(&mut progress, state, action, now));
    // The future is large.
    let applied = Box::pin(operator.apply(&plan, guards, approval, watcher));
    let ending = signals.run(applied, CommandResult::Resumable).await;
    progress.end();
    exit::end(operator, ending, output).await
}

/// Reports that nothing is done.
fn report_unchanged(report: &DetectionReport, output: RunFormat) -> Result<u8, Failure> {
    if output == RunFormat::Json {
        show::detection(report, DetectFormat::Json)?;
    }
    Ok(0)
}

/// Rolls back an unfinished run as far as possible.
async fn abort(
    operator: &mut Operator,
    signals: Signals,
    yes: bool,
    dry_run: bool,
    output: RunFormat,
) -> Result<u8, Failure> {
    let Some(state) = resume::find(operator, dry_run, output, "abort").await? else { return Ok(0) };
    if let Some(state) = &state {
        show_target(operator).await;
        write(&format!("Run {} is unfinished, at {}.\n", printable(&state.id), state.position()));
        if !yes {
            ask(operator, "roll back the run on", "abort --yes")?;
        }
    }
    let mut progress = Progress::new();
    let watcher =
        Box::new(|state: &_, action: &_, now| show_progress(&mut progress, state, action, now));
    let mut say = print_once();
    let run = Box::pin(operator.abort(watcher, &mut say));
    let ending = signals.run(run, CommandResult::Resumable).await;
    progress.end();
    exit::end(operator, ending, output).await
}
