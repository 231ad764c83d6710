//! The screen of `detect`: a verdict, its signs, and the next command.

use mooring_terminal::{Mark, Screen, Text};
use mooring_workflow::plural::counted;
use mooring_workflow::published::Next;
use mooring_workflow::{CheckResult, Outcome, screens};

use crate::checks::verdict::{SIGNS, WedgeVerdict};
use crate::names::{CLUSTER_STATE, FAILING_WRITES, MISSING_NODES, OTHER_POOLS, POOL_STATE};
use crate::present::report::{DetectionReport, SkippedPool};

/// Returns the statement of a sign, which is yes, no or unknown.
fn statement(name: &str) -> &str {
    match name {
        MISSING_NODES => "nodes are missing",
        FAILING_WRITES => "writes keep failing",
        OTHER_POOLS => "only this pool",
        POOL_STATE => "the pool has failed",
        CLUSTER_STATE => "can be repaired",
        other => other,
    }
}

/// Wedged and suspected pools come first, then unknown ones; pools that are not wedged share one line.
pub fn detection(
    reports: &[DetectionReport],
    skipped: &[SkippedPool],
    next: &[Next],
    is_wide: bool,
) -> Screen {
    let mut screen = Screen::default();
    let is_block = |report: &&DetectionReport| {
        reports.len() == 1
            || is_wide
            || report.detection.verdict != WedgeVerdict::Healthy
            || report.temporary_pool.is_some()
    };
    let mut sorted: Vec<&DetectionReport> = reports.iter().filter(is_block).collect();
    sorted.sort_by_key(|report| report.detection.verdict.rank());
    for report in sorted {
        block(&mut screen, report, is_wide);
    }
    let rest: Vec<&DetectionReport> = reports.iter().filter(|report| !is_block(report)).collect();
    if let Some(first) = rest.first() {
        let names: Vec<&str> = rest.iter().map(|report| report.pool.as_str()).collect();
        let pools = match names.as_slice() {
            [one] => format!("Pool {one} of {} is not wedged.", first.cluster),
            all => format!(
                "{} pools of {} are not wedged: {}.",
                all.len(),
                first.cluster,
                all.join(", ")
            ),
        };
        screen.sentence(Mark::Good, pools);
    }
    for one in skipped {
        screen.sentence(Mark::None, format!("Not checked: {}.", one.why));
    }
    screens::next(&mut screen, "Next", next);
    screen
}

fn block(screen: &mut Screen, report: &DetectionReport, is_wide: bool) {
    let (mark, sentence) = sentence(report);
    screen.sentence(mark, sentence);
    signs(screen, &report.detection.checks, is_wide);
    let also = report.operation.iter().map(ToString::to_string);
    for line in also.chain(report.temporary_pool.iter().map(ToString::to_string)) {
        screen.hanging(2, 9, Text::new(format!("also     {line}")));
    }
}

/// Returns the verdict as a sentence that names pool and cluster.
pub(super) fn sentence(report: &DetectionReport) -> (Mark, String) {
    let checks = &report.detection.checks;
    let count = |outcome| checks.iter().filter(|check| check.outcome == outcome).count();
    let (yes, unknown) = (count(Outcome::Pass), count(Outcome::Unknown));
    let is_absent = |check: &&CheckResult| {
        check.outcome == Outcome::Fail && SIGNS.contains(&check.name.as_str())
    };
    let absent: Vec<&str> =
        checks.iter().filter(is_absent).map(|check| statement(&check.name)).collect();
    let all = counted(checks.len(), "sign");
    let pool = format!("Pool {} of {}", report.pool, report.cluster);
    match report.detection.verdict {
        WedgeVerdict::Confirmed => (Mark::Bad, format!("{pool} is wedged: all {all} are present.")),
        // A wedge shows all signs, so one that is absent rules it out.
        WedgeVerdict::Suspect | WedgeVerdict::Unknown if !absent.is_empty() => {
            let rest = if unknown == 0 {
                format!("{yes} of {all} are present")
            } else {
                format!("{unknown} of {all} could not be determined")
            };
            let absent = absent.join(", ");
            (Mark::Warning, format!("{pool} is not wedged: {rest}; absent: {absent}."))
        }
        WedgeVerdict::Suspect => {
            (Mark::Warning, format!("{pool} may be wedged: {yes} of {all} are present."))
        }
        WedgeVerdict::Healthy => (Mark::Good, format!("{pool} is not wedged.")),
        WedgeVerdict::Unknown if checks.is_empty() => {
            (Mark::Warning, format!("{pool} could not be checked."))
        }
        WedgeVerdict::Unknown => (
            Mark::Warning,
            format!("{pool} may be wedged: {unknown} of {all} could not be determined."),
        ),
    }
}

/// Adds one line per sign: yes, no or unknown, the statement, and evidence.
pub(super) fn signs(screen: &mut Screen, checks: &[CheckResult], is_wide: bool) {
    let title = |check: &CheckResult| {
        let statement = statement(&check.name);
        if is_wide { format!("{statement} ({})", check.name) } else { statement.to_owned() }
    };
    let width = checks.iter().map(|check| title(check).len()).max().unwrap_or(0);
    for check in checks {
        let (state, mark) = match check.outcome {
            Outcome::Pass => ("yes", Mark::Bad),
            Outcome::Fail => ("no", Mark::Good),
            Outcome::Unknown => ("unknown", Mark::Warning),
        };
        let overridden = check.overridden.as_ref();
        let overridden = overridden.map(|comment| format!(" (overridden: {comment})"));
        let text = Text::default()
            .colored(mark, format!("{state:<7}"))
            .plain(format!("  {:<width$}  {}", title(check), check.detail()))
            .plain(overridden.unwrap_or_default());
        screen.hanging(2, 7 + 2 + width + 2, text);
    }
}
