//! `mooring repair`: wiring. What is decided is decided in `mooring-repair`.

mod arguments;
mod confirm;
mod end;
mod left;
mod outside;
mod pipeline;
mod progress;
mod resume;
mod settings;
mod show;

use std::process::ExitCode;

use mooring_redact::printable;
use mooring_repair::begin::may_begin;
use mooring_repair::report::DetectionReport;
use mooring_repair::settings::Settings;
use mooring_repair::shell::{CommandResult, Operator};
use mooring_repair::verdict::Verdict;
use mooring_repair::workflow::Run;
use mooring_workflow::approval::{Approval, ApprovalToken};

pub(crate) use arguments::RepairArguments;
use arguments::{Drawn, Plain, RepairCommand, TargetArguments, Written};
use confirm::{ask, no_plan, show_target};
use left::{left, nobody_stands_in};
use outside::operator;
use progress::{place, tell};
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
        RepairCommand::Detect { target, judging, output } => {
            let settings = settings::settings(target, Some(judging), None, &env_var)?;
            on(target, settings, async |operator, _| {
                let report = with_progress(operator.detect()).await;
                left::ensure_found(&report, operator)?;
                show::detection(&report, *output)?;
                Ok(report.exit_code())
            })
        }
        RepairCommand::Plan { target, judging, policies, output } => {
            let settings = settings::settings(target, Some(judging), Some(policies), &env_var)?;
            on(target, settings, async |operator, _| plan(operator, *output).await)
        }
        RepairCommand::Apply { target, judging, policies, approval, dry_run, output } => {
            let dry_run = *dry_run || dry_run_variable;
            dry_run::announce(dry_run);
            let settings = settings::settings(target, Some(judging), Some(policies), &env_var)?;
            on(target, settings, async |operator, signals| {
                if dry_run {
                    return plan(operator, *output).await;
                }
                let written = Written::try_from(*output)?;
                Box::pin(apply(operator, signals, approval.plan_hash.as_ref(), written)).await
            })
        }
        RepairCommand::Resume { target, judging, policies, yes, plan_hash, dry_run, output } => {
            let dry_run = *dry_run || dry_run_variable;
            dry_run::announce(dry_run);
            let settings = settings::settings(target, Some(judging), Some(policies), &env_var)?;
            let asked = Resume { yes: *yes, token: plan_hash.as_ref(), dry_run, output: *output };
            on(target, settings, async |operator, signals| asked.run(operator, signals).await)
        }
        RepairCommand::Abort { target, yes, dry_run, output } => {
            let dry_run = *dry_run || dry_run_variable;
            dry_run::announce(dry_run);
            let settings = settings::settings(target, None, None, &env_var)?;
            on(target, settings, async |operator, signals| {
                abort(operator, signals, *yes, dry_run, *output).await
            })
        }
        RepairCommand::Status { target, all, output } => {
            let settings = settings::settings(target, None, None, &env_var)?;
            on(target, settings, async |operator, _| {
                let standing = left::standing(operator).await?;
                if standing.records.is_empty() {
                    left::ensure_exists(operator).await?;
                }
                left::warn_of_0_1(operator).await;
                show::standing(&standing, *all, *output)?;
                if let Ok(Some(state)) = Run::replay(&standing.records) {
                    // A journal of another cluster or pool says nothing about the one that was named.
                    operator.own(&state).map_err(Failure::io)?;
                }
                if standing.records.is_empty()
                    && let Some(left) = operator.temporary_pool().await
                {
                    write(&format!("But {left}.\nhint: `--journal` names it\n"));
                }
                Ok(0)
            })
        }
    }
}

fn on(
    target: &TargetArguments,
    settings: Settings,
    act: impl AsyncFnOnce(&mut Operator, Signals) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    build_runtime()?.block_on(async {
        let (mut operator, signals) = operator(target.kubeconfig.as_deref(), settings)?;
        act(&mut operator, signals).await
    })
}

async fn plan(operator: &mut Operator, output: Drawn) -> Result<u8, Failure> {
    let examined = with_progress(operator.examine(None, None)).await;
    let report = &examined.report;
    left::ensure_found(report, operator)?;
    // Why it is not certain stands there.
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
    output: Written,
) -> Result<u8, Failure> {
    if let Some(ending) = left(operator).await? {
        return Box::pin(end::end(operator, ending, output)).await;
    }
    show_target(operator).await;
    left::warn_of_0_1(operator).await;
    let expires = token.map(|token| token.expires);
    let examined = with_progress(operator.examine(expires, None)).await;
    let report = &examined.report;
    left::ensure_found(report, operator)?;
    let overridden = report.detection.guards.iter().any(|guard| guard.overridden.is_some());
    if report.detection.verdict == Verdict::Healthy && !overridden {
        write(&report.table());
        nobody_stands_in(report)?;
        write("nothing to do\n");
        return untouched(report, output);
    }
    write(&report.table());
    let plan = examined.plan.map_err(|error| no_plan(&error))?;
    let guards = &report.detection.guards;
    may_begin(&plan, guards, operator.settings())
        .map_err(|error| end::refusal(&error, operator.settings()))?;
    show::warnings(&plan);
    if let Some(young) = report.operation.as_ref().filter(|operation| operation.left_alone) {
        write(&format!("{young}; nothing to do\n"));
        return untouched(report, output);
    }
    let approval = if let Some(token) = token {
        Approval::Token(token.clone())
    } else {
        // Without a journal nothing begins, so there is nothing to confirm.
        operator.status().await?;
        write(&format!("\n{}\n", mooring_repair::plan::table(&plan)));
        ask(operator, "rebuild", "apply --yes --plan-hash HASH")?;
        Approval::Typed(plan.document.hash())
    };
    let mut progress = Progress::new();
    let watcher = Box::new(|state: &_, action: &_, now| tell(&mut progress, state, action, now));
    // On the heap: it is large.
    let applied = Box::pin(operator.apply(&plan, guards, approval, watcher));
    let ending = signals.run(applied, CommandResult::Resumable).await;
    progress.end();
    end::end(operator, ending, output).await
}

/// Nothing is done, and a program is told why.
fn untouched(report: &DetectionReport, output: Written) -> Result<u8, Failure> {
    if output == Written::Json {
        show::detection(report, Plain::Json)?;
    }
    Ok(0)
}

/// Undoes what can be undone of an unfinished run.
async fn abort(
    operator: &mut Operator,
    signals: Signals,
    yes: bool,
    dry_run: bool,
    output: Written,
) -> Result<u8, Failure> {
    let Some(state) = resume::find(operator, dry_run, output, "abort").await? else { return Ok(0) };
    if let Some(state) = &state {
        show_target(operator).await;
        write(&format!("Run {} is unfinished, at {}.\n", printable(&state.id), place(state)));
        if !yes {
            ask(operator, "roll back the run on", "abort --yes")?;
        }
    }
    let mut progress = Progress::new();
    let watcher = Box::new(|state: &_, action: &_, now| tell(&mut progress, state, action, now));
    let mut say = print_once();
    let run = Box::pin(operator.abort(watcher, &mut say));
    let ending = signals.run(run, CommandResult::Resumable).await;
    progress.end();
    end::end(operator, ending, output).await
}
