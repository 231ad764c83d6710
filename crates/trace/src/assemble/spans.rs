//! Spans of one boot, on one clock and without duplicates.

use jiff::{SignedDuration, Timestamp};

use crate::model::timeline::{
    Extent, SkippedFile, Span, SpanKind, SpanSource, SpanStatus, TimelineOutcome,
};
use crate::model::{production, tree};
use crate::read::collect::NodeData;
use crate::read::{FoundSpan, MAX_SPANS};

/// Maximum distance from the bootstrap. Earlier spans belong to another boot, or to a clock that was not set.
const LONG_BEFORE: SignedDuration = SignedDuration::from_hours(6);
const LONG_AFTER: SignedDuration = SignedDuration::from_hours(24);
/// Tolerance for the same step in two sources: the agent takes the two timestamps one after the other.
const SAME_STEP: SignedDuration = SignedDuration::from_millis(5);
const SAME_AGENT: SignedDuration = SignedDuration::from_secs(2);

/// Converts all spans with a known start to one clock.
pub(super) fn begun(data: &NodeData) -> Vec<FoundSpan> {
    let spans = data.spans.iter().filter_map(|span| {
        let start = data.at(span.start)?;
        Some(FoundSpan {
            name: span.name.clone(),
            kind: span.kind,
            start,
            end: span.end.and_then(|end| data.at(end)).map(|end| end.max(start)),
            failed: span.failed,
            sources: span.sources.clone(),
            message: span.message.clone(),
        })
    });
    spans.collect()
}

/// Removes spans of another boot.
pub(super) fn of_one_boot(
    mut found: Vec<FoundSpan>,
    skipped: &mut Vec<SkippedFile>,
) -> Vec<FoundSpan> {
    let run = found.iter().filter(|one| one.kind == SpanKind::Run).map(|one| one.start).max();
    let mut starts: Vec<Timestamp> = found.iter().map(|one| one.start).collect();
    starts.sort_unstable();
    let Some(around) = run.or_else(|| starts.get(starts.len() / 2).copied()) else { return found };
    let mut left_out = 0_usize;
    found.retain(|one| {
        let away = one.start.duration_since(around);
        let is_near = away > -LONG_BEFORE && away < LONG_AFTER;
        left_out += usize::from(!is_near);
        is_near
    });
    if left_out > 0 {
        let why = format!(
            "left out: more than {} h before the bootstrap or {} h after it",
            LONG_BEFORE.as_hours(),
            LONG_AFTER.as_hours()
        );
        skipped.push(SkippedFile { path: format!("{left_out} times"), why });
    }
    found
}

pub(super) fn merged(mut found: Vec<FoundSpan>) -> Vec<FoundSpan> {
    found.sort_by(|a, b| (&a.name, a.start).cmp(&(&b.name, b.start)));
    let mut merged: Vec<FoundSpan> = Vec::with_capacity(found.len());
    for one in found {
        let same =
            if one.name.starts_with("AKS.AKSNodeController.") { SAME_AGENT } else { SAME_STEP };
        match merged.last_mut() {
            Some(last) if last.name == one.name && one.start.duration_since(last.start) <= same => {
                last.end = match (last.end, one.end) {
                    (Some(a), Some(b)) => Some(a.max(b)),
                    (a, b) => a.or(b),
                };
                last.failed |= one.failed;
                last.sources.extend(one.sources);
                last.sources.sort_unstable();
                last.sources.dedup();
                if last.message.is_empty() {
                    last.message = one.message;
                }
            }
            _ => merged.push(one),
        }
    }
    merged
}

/// Limits the number of spans: later steps compare all pairs.
pub(super) fn bounded(mut found: Vec<FoundSpan>, skipped: &mut Vec<SkippedFile>) -> Vec<FoundSpan> {
    if found.len() > MAX_SPANS {
        let path = format!("{} times", found.len() - MAX_SPANS);
        skipped.push(SkippedFile { path, why: format!("skipped: more than {MAX_SPANS} spans") });
        found.sort_by_key(|one| (one.kind == SpanKind::Step, one.start));
        found.truncate(MAX_SPANS);
    }
    found
}

/// Adds the scripts as a whole from the report if their last event is missing.
pub(super) fn add_run(data: &NodeData, outcome: TimelineOutcome, found: &mut Vec<FoundSpan>) {
    let Some(report) = &data.report else { return };
    let Some(start) = report.began.and_then(|began| data.at(began)) else { return };
    if found.iter().any(|one| one.kind == SpanKind::Run) {
        return;
    }
    let seconds = report.seconds.map(SignedDuration::from_secs);
    let reported_end = seconds.and_then(|seconds| start.checked_add(seconds).ok());
    let last_step =
        found.iter().filter(|one| one.kind == SpanKind::Step).filter_map(|one| one.end).max();
    // The report counts whole seconds.
    let is_rounding =
        |step: &Timestamp, end: Timestamp| step.duration_since(end) < SignedDuration::from_secs(2);
    let end = reported_end.map(|end| {
        last_step.filter(|step| is_rounding(step, end)).map_or(end, |step| end.max(step))
    });
    found.push(FoundSpan {
        end,
        failed: outcome == TimelineOutcome::Failed,
        ..FoundSpan::new("AKS.CSE.cse_start", SpanKind::Run, start, SpanSource::Report)
    });
}

/// End of the scripts, or else of the agent.
pub(super) fn end_of_bootstrap(found: &[FoundSpan]) -> Option<Timestamp> {
    let end_of = |kind| found.iter().filter(|one| one.kind == kind).filter_map(|one| one.end).max();
    end_of(SpanKind::Run).or_else(|| end_of(SpanKind::Agent))
}

/// Sets ends, comparisons, order and nesting.
pub(super) fn finished(
    found: Vec<FoundSpan>,
    outcome: TimelineOutcome,
    system: production::System,
) -> Vec<Span> {
    let latest = found.iter().map(|one| one.end.unwrap_or(one.start)).max();
    let end_of_all = end_of_bootstrap(&found).or(latest);
    let spans = found.into_iter().filter_map(|one| {
        let status = match one.end {
            _ if one.failed => SpanStatus::Failed,
            Some(end) if end == one.start && one.kind == SpanKind::Boot => SpanStatus::Instant,
            Some(_) => SpanStatus::Done,
            // Not finished because it ran in the background, or because the log was cut.
            None if outcome == TimelineOutcome::Succeeded && one.kind != SpanKind::Stage => {
                return None;
            }
            None => SpanStatus::Unfinished,
        };
        let end = one.end.or(end_of_all).map_or(one.start, |end| end.max(one.start));
        let seconds = end.duration_since(one.start).as_secs_f64();
        let comparison = match one.kind {
            SpanKind::Step => Some(production::compare(&one.name, seconds, system)),
            SpanKind::Run => Some(production::compare_run(seconds)),
            _ => None,
        };
        Some(Span {
            name: one.name,
            kind: one.kind,
            start: one.start,
            end,
            status,
            sources: one.sources,
            parent: None,
            depth: 0,
            lane: 0,
            message: one.message,
            comparison,
        })
    });
    tree::build(spans.collect())
}

pub(super) fn extent(spans: &[Span]) -> Option<Extent> {
    let begin = spans.iter().map(|span| span.start).min()?;
    let end = spans.iter().map(|span| span.end).max()?;
    Some(Extent { begin, end })
}
