//! `mooring repair plan` and `mooring repair apply`.

use mooring_repair::report::DetectionReport;
use mooring_repair::runtime::{CommandResult, Operator};
use mooring_repair::screens;
use mooring_repair::start_checks::may_begin;
use mooring_repair::verdict::WedgeVerdict;
use mooring_workflow::approval::{Approval, ApprovalToken};

use crate::output::failure::CommandFailure;
use crate::workflows::repair::confirm::{ask, ask_protected, no_plan, show_target};
use crate::workflows::repair::formats::{
    DetectFormat, DetectOutput, PlanOutput, RUN, RunFormat, RunOutput,
};
use crate::workflows::repair::leftover::{ensure_no_temporary_pool, find_unfinished_run};
use crate::workflows::repair::progress::{new_progress, show_progress};
use crate::workflows::repair::show::Flags;
use crate::workflows::repair::{exit, leftover, show};
use crate::workflows::runs::{ReadLimit, Signals, with_progress, write, write_screen};

pub(crate) async fn plan(
    operator: &mut Operator,
    limit: Option<ReadLimit>,
    output: &PlanOutput,
    flags: Flags<'_>,
) -> Result<u8, CommandFailure> {
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

pub(crate) async fn apply(
    operator: &mut Operator,
    signals: Signals,
    token: Option<&ApprovalToken>,
    protected: Option<&str>,
    output: &RunOutput,
    flags: Flags<'_>,
) -> Result<u8, CommandFailure> {
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
    if report.detection.verdict == WedgeVerdict::Healthy && !overridden {
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
) -> Result<u8, CommandFailure> {
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
