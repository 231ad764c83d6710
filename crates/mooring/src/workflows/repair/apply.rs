//! `mooring repair detect`, `plan` and `apply`.

use jiff::Timestamp;
use mooring_repair::report::DetectionReport;
use mooring_repair::screens;
use mooring_repair::start_checks::{ensure_approved, may_begin};
use mooring_repair::verdict::WedgeVerdict;
use mooring_workflow::approval::{Approval, ApprovalToken};

use super::failures::{
    ensure_found, ensure_no_temporary_pool, find_unfinished_run, no_plan, refusal,
};
use super::session::RepairSession;
use super::show;
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, PlanFormat, published};
use crate::workflows::runs::{with_progress, write, write_screen};

/// Evaluates one pool, or all pools of the cluster.
pub(crate) async fn detect(
    session: &mut RepairSession<'_>,
    format: AnswerFormat,
    exit_zero: bool,
) -> Result<u8, CommandFailure> {
    let (operator, limit) = (&mut session.operator, session.limit);
    let (reports, skipped) = if session.target.pool.is_some() {
        (vec![with_progress(limit, operator.detect()).await], Vec::new())
    } else {
        let all = with_progress(limit, operator.detect_all()).await;
        // The pools are unknown, so this report has the reason.
        all.unwrap_or_else(|report| (vec![report], Vec::new()))
    };
    for report in &reports {
        ensure_found(report, operator).await?;
    }
    show::detection(session, &reports, &skipped, format).await?;
    let verdict = WedgeVerdict::worst(reports.iter().map(|report| report.detection.verdict));
    let code = match verdict.exit_code() {
        1 if exit_zero => 0,
        1 => 1,
        code => code.max(published::exit_code(&session.operator.sources())),
    };
    if code == 3 && format == AnswerFormat::Name {
        show::unknown(&reports);
    }
    Ok(code)
}

/// Returns 3 if something could not be read; `apply` reads it again. A token has to be that of the plan.
pub(crate) async fn plan(
    session: &mut RepairSession<'_>,
    token: Option<&ApprovalToken>,
    format: PlanFormat,
) -> Result<u8, CommandFailure> {
    let operator = &mut session.operator;
    let expires = token.map(|token| token.expires);
    let examined = with_progress(session.limit, operator.examine(expires, None)).await;
    let report = &examined.report;
    ensure_found(report, operator).await?;
    let plan = examined.plan.map_err(|error| {
        show::verdict(report);
        no_plan(&error)
    })?;
    show::plan(session, &plan, report, format).await?;
    if let Some(token) = token {
        ensure_approved(&plan, &token.hash, Timestamp::now())
            .map_err(|error| refusal(&error, &session.flags()))?;
    }
    let code = published::exit_code(&session.operator.sources());
    if code == 3 && matches!(format, PlanFormat::Mermaid | PlanFormat::Answer(AnswerFormat::Name)) {
        show::unknown(std::slice::from_ref(report));
    }
    Ok(code)
}

pub(crate) async fn apply(
    session: &mut RepairSession<'_>,
    token: Option<&ApprovalToken>,
    format: AnswerFormat,
) -> Result<u8, CommandFailure> {
    let operator = &mut session.operator;
    if let Some(ending) = find_unfinished_run(operator).await? {
        return Box::pin(session.end(ending, format)).await;
    }
    let expires = token.map(|token| token.expires);
    let examined = with_progress(None, operator.examine(expires, None)).await;
    let report = &examined.report;
    ensure_found(report, operator).await?;
    let checks = &report.detection.checks;
    let overridden = checks.iter().any(|check| check.overridden.is_some());
    show::verdict(report);
    if report.detection.verdict == WedgeVerdict::Healthy && !overridden {
        ensure_no_temporary_pool(report)?;
        write("nothing to do\n");
        return report_unchanged(session, report, format).await;
    }
    let plan = examined.plan.map_err(|error| no_plan(&error))?;
    may_begin(&plan, checks, operator.settings())
        .map_err(|error| refusal(&error, &session.flags()))?;
    show::warnings(&plan);
    if let Some(recent) = report.operation.as_ref().filter(|operation| operation.left_alone) {
        write(&format!("{recent}; nothing to do\n"));
        return report_unchanged(session, report, format).await;
    }
    let approval = if let Some(token) = token {
        session.show_target("This rebuilds", Some(&plan)).await;
        session.ask_protected()?;
        Approval::Token(token.clone())
    } else {
        // Without a journal no run starts, so there is nothing to confirm.
        session.operator.status().await?;
        write_screen(&screens::plan(&plan, report, None, format == AnswerFormat::Wide));
        session.show_target("This rebuilds", Some(&plan)).await;
        session.ask("apply --yes --plan-hash HASH")?;
        Approval::Typed(plan.document.hash())
    };
    let operator = &mut session.operator;
    let run = session.signals.drive("rollback", async |watcher, _| {
        operator.apply(&plan, checks, approval, watcher).await
    });
    let ending = run.await;
    session.end(ending, format).await
}

/// Reports that nothing is done.
async fn report_unchanged(
    session: &mut RepairSession<'_>,
    report: &DetectionReport,
    format: AnswerFormat,
) -> Result<u8, CommandFailure> {
    if format.is_document() {
        show::detection(session, std::slice::from_ref(report), &[], format).await?;
    }
    Ok(0)
}
