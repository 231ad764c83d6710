//! `mooring repair`: wiring. What is decided is decided in `mooring-repair`.

mod arguments;
mod end;
mod left;
mod outside;
mod pipeline;
mod progress;
mod settings;
mod show;

use std::process::ExitCode;

use jiff::SignedDuration;
use mooring_repair::begin::may_begin;
use mooring_repair::guards::Verdict;
use mooring_repair::machine::State;
use mooring_repair::plan::PlanError;
use mooring_repair::report::DetectionReport;
use mooring_repair::settings::Settings;
use mooring_repair::shell::{Ending, Operator, Standing};

pub(crate) use arguments::RepairArguments;
use arguments::{Drawn, Plain, RepairCommand, TargetArguments, Written};
use left::{left, nobody_stands_in};
use outside::operator;
use progress::tell;

use crate::failure::Failure;
use crate::journaled::{Progress, Signals, confirm, environment, once, patiently, runtime, write};

/// Runs the command.
pub(crate) fn repair(arguments: &RepairArguments) -> ExitCode {
    let done = match &arguments.command {
        None => pipeline::pipeline(),
        Some(command) => run(command),
    };
    done.map_or_else(|failure| failure.report(), ExitCode::from)
}

fn run(command: &RepairCommand) -> Result<u8, Failure> {
    match command {
        RepairCommand::Detect { target, judging, output } => {
            let settings = settings::settings(target, Some(judging), None, &environment)?;
            on(target, settings, async |operator, _| {
                let report = patiently(operator.detect()).await;
                show::detection(&report, *output)?;
                Ok(report.exit_code())
            })
        }
        RepairCommand::Plan { target, judging, policies, output } => {
            let settings = settings::settings(target, Some(judging), Some(policies), &environment)?;
            on(target, settings, async |operator, _| plan(operator, *output).await)
        }
        RepairCommand::Apply { target, judging, policies, approval, dry_run, output } => {
            let settings = settings::settings(target, Some(judging), Some(policies), &environment)?;
            on(target, settings, async |operator, signals| {
                if *dry_run || operator.settings().dry_run {
                    return plan(operator, *output).await;
                }
                let written = Written::try_from(*output)?;
                Box::pin(apply(operator, signals, approval.plan_hash.as_deref(), written)).await
            })
        }
        RepairCommand::Resume { target, overrides, deadline, yes, output } => {
            let way = Way::On { overrides, overall: deadline.map(minutes) };
            again(target, way, *yes, *output)
        }
        RepairCommand::Abort { target, yes, output } => again(target, Way::Back, *yes, *output),
        RepairCommand::Status { target, all, output } => {
            let settings = settings::settings(target, None, None, &environment)?;
            on(target, settings, async |operator, _| {
                let standing = left::standing(operator).await?;
                let is_there = standing.is_some();
                let standing = standing.unwrap_or_else(|| none(operator));
                show::standing(&standing, *all, *output)?;
                if let Ok(Some(state)) = State::replay(&standing.records)
                    && let Err(why) = operator.own(&state)
                {
                    write(&format!("But {why}.\n"));
                }
                if is_there
                    && standing.records.is_empty()
                    && let Some(left) = operator.stand_in().await
                {
                    write(&format!("But {left}.\nhint: `--journal` names it\n"));
                }
                Ok(0)
            })
        }
    }
}

/// What there is to say of a cluster that is not there.
fn none(operator: &Operator) -> Standing {
    let settings = operator.settings();
    let place = settings.journal.pointer(&settings.target.pool);
    Standing { place, records: Vec::new(), lock: None }
}

fn on(
    target: &TargetArguments,
    settings: Settings,
    act: impl AsyncFnOnce(&mut Operator, Signals) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    runtime()?.block_on(async {
        let (mut operator, signals) = operator(target.kubeconfig.as_deref(), settings)?;
        act(&mut operator, signals).await
    })
}

async fn plan(operator: &mut Operator, output: Drawn) -> Result<u8, Failure> {
    let examined = patiently(operator.examine()).await;
    let report = &examined.report;
    if report.greenfield && output == Drawn::Json {
        show::detection(report, Plain::Json)?;
        return Ok(0);
    }
    // Why it is not certain stands there.
    if report.detection.verdict != Verdict::Confirmed {
        write(&format!("{}\n", report.table()));
    }
    if report.greenfield {
        return Ok(0);
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
    approved: Option<&str>,
    output: Written,
) -> Result<u8, Failure> {
    if let Some(ending) = left(operator).await? {
        return Box::pin(end::end(operator, ending, output)).await;
    }
    let examined = patiently(operator.examine()).await;
    let report = &examined.report;
    let overridden = report.detection.guards.iter().any(|guard| guard.overridden.is_some());
    if report.greenfield || (report.detection.verdict == Verdict::Healthy && !overridden) {
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
    if let Some(young) = report.operation.as_ref().filter(|operation| operation.left_alone) {
        write(&format!("{young}; nothing to do\n"));
        return untouched(report, output);
    }
    if approved.is_none() {
        // Without a journal nothing begins, so nobody need be asked.
        operator.status().await?;
        write(&format!("\n{}\n", mooring_repair::plan::table(&plan)));
        ask(&plan.pool, "rebuild", "apply --yes --plan-hash HASH")?;
    }
    let mut progress = Progress::new();
    let watcher = Box::new(|state: &_, action: &_, now| tell(&mut progress, state, action, now));
    let ending =
        signals.during(operator.apply(&plan, guards, approved, watcher), Ending::Resumable).await;
    progress.end();
    end::end(operator, ending, output).await
}

fn minutes(number: u32) -> SignedDuration {
    SignedDuration::from_mins(number.into())
}

/// Nothing is done, and a program is told why.
fn untouched(report: &DetectionReport, output: Written) -> Result<u8, Failure> {
    if output == Written::Json {
        show::detection(report, Plain::Json)?;
    }
    Ok(0)
}

/// Where a run goes that is taken up again.
#[derive(Clone, Copy)]
enum Way<'a> {
    On { overrides: &'a [String], overall: Option<SignedDuration> },
    Back,
}

fn again(
    target: &TargetArguments,
    way: Way<'_>,
    yes: bool,
    output: Written,
) -> Result<u8, Failure> {
    let mut settings = settings::settings(target, None, None, &environment)?;
    if let Way::On { overrides, .. } = way {
        settings::go_over_later(&mut settings, overrides)?;
    }
    let pool = settings.target.pool.clone();
    on(target, settings, async |operator, signals| {
        // Nobody is asked for what is not there to be done.
        let standing = left::standing(operator).await?;
        let is_there = standing.is_some();
        let standing = standing.unwrap_or_else(|| none(operator));
        let unfinished = left::unfinished(operator, &standing.records)?;
        let dry_run = operator.settings().dry_run;
        if (unfinished.is_none() || dry_run) && output == Written::Json {
            show::standing(&standing, false, output)?;
        }
        if !is_there {
            return Ok(0);
        }
        if let Some(state) = unfinished.as_ref().filter(|_| dry_run) {
            write(&format!("run {} is not over; DRY_RUN is on, and nothing is done\n", state.run));
            return Ok(0);
        }
        if !yes && unfinished.is_some() {
            let (what, unattended) = match way {
                Way::On { .. } => ("continue", "resume --yes"),
                Way::Back => ("undo", "abort --yes"),
            };
            ask(&pool, &format!("{what} the run on"), unattended)?;
        }
        let mut progress = Progress::new();
        let watcher =
            Box::new(|state: &_, action: &_, now| tell(&mut progress, state, action, now));
        let mut say = once();
        let ending = match way {
            Way::On { overall, .. } => {
                let run = Box::pin(operator.resume(overall, watcher, &mut say));
                signals.during(run, Ending::Resumable).await
            }
            Way::Back => {
                let run = Box::pin(operator.abort(watcher, &mut say));
                signals.during(run, Ending::Resumable).await
            }
        };
        progress.end();
        end::end(operator, ending, output).await
    })
}

fn ask(pool: &str, what: &str, unattended: &str) -> Result<(), Failure> {
    confirm(pool, &format!("Type the pool's name to {what} pool {pool}: "), unattended)
}

fn no_plan(error: &PlanError) -> Failure {
    match error {
        PlanError::Unread(..) => Failure::unreadable(error.to_string()),
        PlanError::Throttled(..) => Failure::unreadable(error.to_string()).with_code(6),
        PlanError::NoPool(_) | PlanError::Pool(_) => Failure::refused(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_azure_asks_to_wait_for_is_exit_6() {
        let code = |error: &PlanError| format!("{:?}", no_plan(error));
        let why = || "HTTP 429".to_owned();
        assert!(code(&PlanError::Throttled("pools", why())).contains("exit_code: 6"));
        assert!(code(&PlanError::Unread("pools", why())).contains("exit_code: 3"));
        assert!(code(&PlanError::NoPool("system".to_owned())).contains("exit_code: 4"));
    }
}
