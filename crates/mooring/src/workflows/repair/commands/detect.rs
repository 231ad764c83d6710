//! `mooring repair detect`.

use mooring_repair::runtime::Operator;
use mooring_repair::verdict::WedgeVerdict;

use crate::about::schema::is_former;
use crate::output::failure::CommandFailure;
use crate::workflows::repair::arguments::TargetArguments;
use crate::workflows::repair::formats::{DETECTION, DetectOutput};
use crate::workflows::repair::{leftover, show};
use crate::workflows::runs::{ReadLimit, with_progress};

/// Evaluates one pool, or all pools of the cluster.
pub(crate) async fn detect(
    operator: &mut Operator,
    target: &TargetArguments,
    limit: Option<ReadLimit>,
    output: &DetectOutput,
) -> Result<u8, CommandFailure> {
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
    let verdict = WedgeVerdict::worst(reports.iter().map(|report| report.detection.verdict));
    Ok(match verdict.exit_code() {
        1 if output.exit_zero => 0,
        code => code,
    })
}
