//! `mooring repair detect`.

use mooring_repair::verdict::WedgeVerdict;
use mooring_workflow::published::is_partial;

use crate::output::failure::CommandFailure;
use crate::workflows::repair::formats::DetectOutput;
use crate::workflows::repair::session::RepairSession;
use crate::workflows::repair::{leftover, show};
use crate::workflows::runs::with_progress;

/// Evaluates one pool, or all pools of the cluster.
pub(crate) async fn detect(
    session: &mut RepairSession<'_>,
    output: &DetectOutput,
) -> Result<u8, CommandFailure> {
    let (operator, limit) = (&mut session.operator, session.limit);
    let (reports, skipped) = if session.target.pool.is_some() {
        (vec![with_progress(limit, operator.detect()).await], Vec::new())
    } else {
        match with_progress(limit, operator.detect_all()).await {
            Ok(all) => all,
            // The pools are unknown, so this report has the reason.
            Err(report) => (vec![report], Vec::new()),
        }
    };
    for report in &reports {
        leftover::ensure_found(report, operator).await?;
    }
    show::detection(session, (&reports, &skipped), output).await?;
    let verdict = WedgeVerdict::worst(reports.iter().map(|report| report.detection.verdict));
    Ok(match verdict.exit_code() {
        1 if output.exit_zero => 0,
        0 if is_partial(&session.operator.sources()) => 3,
        code => code,
    })
}
