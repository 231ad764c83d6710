//! `mooring repair plan` and `mooring repair apply`.

use jiff::Timestamp;
use mooring_repair::report::DetectionReport;
use mooring_repair::runtime::{Operator, Watcher};
use mooring_repair::screens;
use mooring_repair::start_checks::{ensure_approved, may_begin};
use mooring_repair::verdict::WedgeVerdict;
use mooring_workflow::approval::{Approval, ApprovalToken};
use mooring_workflow::published::is_partial;

use crate::output::AnswerFormat;
use crate::output::failure::CommandFailure;
use crate::workflows::repair::confirm::{no_plan, show_target};
use crate::workflows::repair::formats::{DetectOutput, PlanOutput, RunOutput};
use crate::workflows::repair::leftover::{ensure_no_temporary_pool, find_unfinished_run};
use crate::workflows::repair::session::RepairSession;
use crate::workflows::repair::{exit, leftover, show};
use crate::workflows::runs::{Signals, with_progress, write, write_screen};

/// Returns 3 if something could not be read; `apply` reads it again. A token has to be that of the plan.
pub(crate) async fn plan(
    session: &mut RepairSession<'_>,
    token: Option<&ApprovalToken>,
    output: &PlanOutput,
) -> Result<u8, CommandFailure> {
    let flags = session.flags();
    let operator = &mut session.operator;
    let expires = token.map(|token| token.expires);
    let examined = with_progress(session.limit, operator.examine(expires, None)).await;
    let report = &examined.report;
    leftover::ensure_found(report, operator).await?;
    let plan = match examined.plan {
        Ok(plan) => plan,
        Err(error) => {
            show::verdict(report);
            return Err(no_plan(&error));
        }
    };
    show::plan(operator, &plan, report, output, &flags).await?;
    if let Some(token) = token {
        ensure_approved(&plan, &token.hash, Timestamp::now())
            .map_err(|error| exit::refusal(&error, &flags))?;
    }
    Ok(if is_partial(&operator.sources()) { 3 } else { 0 })
}

pub(crate) async fn apply(
    session: &mut RepairSession<'_>,
    signals: Signals,
    token: Option<&ApprovalToken>,
    output: &RunOutput,
) -> Result<u8, CommandFailure> {
    let operator = &mut session.operator;
    if let Some(ending) = find_unfinished_run(operator).await? {
        return Box::pin(exit::end(session, ending, output)).await;
    }
    let expires = token.map(|token| token.expires);
    let examined = with_progress(None, operator.examine(expires, None)).await;
    let report = &examined.report;
    leftover::ensure_found(report, operator).await?;
    let overridden = report.detection.checks.iter().any(|check| check.overridden.is_some());
    show::verdict(report);
    if report.detection.verdict == WedgeVerdict::Healthy && !overridden {
        ensure_no_temporary_pool(report)?;
        write("nothing to do\n");
        return report_unchanged(session, report, output).await;
    }
    let plan = examined.plan.map_err(|error| no_plan(&error))?;
    let checks = &report.detection.checks;
    may_begin(&plan, checks, operator.settings())
        .map_err(|error| exit::refusal(&error, &session.flags()))?;
    show::warnings(&plan);
    if let Some(recent) = report.operation.as_ref().filter(|operation| operation.left_alone) {
        write(&format!("{recent}; nothing to do\n"));
        return report_unchanged(session, report, output).await;
    }
    let operator = &mut session.operator;
    let approval = if let Some(token) = token {
        show_target(operator, "This rebuilds", Some(&plan)).await;
        session.ask_protected()?;
        Approval::Token(token.clone())
    } else {
        // Without a journal no run starts, so there is nothing to confirm.
        operator.status().await?;
        write_screen(&screens::plan(&plan, report, None, output.output == AnswerFormat::Wide));
        show_target(operator, "This rebuilds", Some(&plan)).await;
        session.ask("apply --yes --plan-hash HASH")?;
        Approval::Typed(plan.document.hash())
    };
    let run = async |operator: &mut Operator, watcher: Watcher<'_>, _: &mut dyn FnMut(&str)| {
        operator.apply(&plan, checks, approval, watcher).await
    };
    session.drive(signals, output, run).await
}

/// Reports that nothing is done.
async fn report_unchanged(
    session: &mut RepairSession<'_>,
    report: &DetectionReport,
    output: &RunOutput,
) -> Result<u8, CommandFailure> {
    if output.output.is_document() {
        let detect = DetectOutput { output: output.output, exit_zero: false };
        show::detection(session, (std::slice::from_ref(report), &[]), &detect).await?;
    }
    Ok(0)
}
