//! Builds the timelines of nodes from the data of their files: spans of one boot, on one clock and without duplicates.

use jiff::{SignedDuration, Timestamp};
use mooring_codes::Os;
use mooring_diagnosis::{Hints, diagnose_bounded};

use crate::escape::tidy;
use crate::life::{LifeState, NodeLife};
use crate::read::collect::{NodeData, collect};
use crate::read::files::{self, TraceFile};
use crate::read::{FoundSpan, MAX_NAME, MAX_SPANS, exit_code};
use crate::timeline::{
    BootstrapAttempt, Extent, RunningStep, SkippedFile, Span, SpanKind, SpanSource, SpanStatus,
    Timeline, TimelineOutcome,
};
use crate::{production, steps, tree};

/// Maximum distance from the bootstrap. Earlier spans belong to another boot, or to a clock that was not set.
const LONG_BEFORE: SignedDuration = SignedDuration::from_hours(6);
const LONG_AFTER: SignedDuration = SignedDuration::from_hours(24);
/// Tolerance for the same step in two sources: the agent takes the two timestamps one after the other.
const SAME_STEP: SignedDuration = SignedDuration::from_millis(5);
const SAME_AGENT: SignedDuration = SignedDuration::from_secs(2);

/// Builds the timelines of all nodes in these files, by name.
pub fn read(files: &[TraceFile]) -> Vec<Timeline> {
    let nodes = files::by_node(files);
    let is_only = nodes.len() == 1;
    let mut timelines: Vec<Timeline> = nodes
        .iter()
        .map(|(root, files)| assemble(root.rsplit('/').next().unwrap_or_default(), files))
        .filter(|one| is_only || !one.is_empty())
        .collect();
    timelines.sort_by(|a, b| a.node.cmp(&b.node));
    timelines
}

impl Timeline {
    /// Builds the timeline of one node. `node` is used if no log contains a host name.
    pub fn of(node: &str, files: &[TraceFile]) -> Self {
        assemble(node, &files.iter().collect::<Vec<_>>())
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
            && self.exit_code.is_none()
            && self.diagnosis.is_none()
            && self.running.is_none()
            && self.life.as_ref().is_none_or(|life| life.state == LifeState::Joining)
    }
}

fn assemble(node: &str, files: &[&TraceFile]) -> Timeline {
    let data = collect(files);
    let exit_code = exit_code_of(&data);
    let agent_failed = data.spans.iter().any(|span| span.kind == SpanKind::Agent && span.failed);
    let outcome = match exit_code {
        Some(0) => TimelineOutcome::Succeeded,
        Some(_) => TimelineOutcome::Failed,
        None if agent_failed => TimelineOutcome::Failed,
        None => data.life.as_ref().map_or(TimelineOutcome::Unknown, NodeLife::outcome),
    };
    let system = data.system.unwrap_or_default();
    let mut skipped = data.skipped.clone();
    let mut found = bounded(merged(of_one_boot(begun(&data), &mut skipped)), &mut skipped);
    add_run(&data, outcome, &mut found);
    let running = running(&data, outcome, exit_code, &mut found);
    let life = data.life.clone().map(|life| life.judged(exit_code));
    if let Some(life) = &life {
        let stages = life.stages(&found);
        found.extend(stages);
    }
    let spans = finished(found, outcome, system);
    let running = running.map(|(name, evidence)| {
        let is_it = |span: &Span| span.name == name && span.status == SpanStatus::Unfinished;
        RunningStep { span: spans.iter().rposition(is_it), name, evidence }
    });
    let extent = extent(&spans);
    let diagnosis = match outcome {
        TimelineOutcome::Succeeded => None,
        TimelineOutcome::Failed | TimelineOutcome::Unknown => cause(&data.report_text),
    };
    Timeline {
        node: data.host.clone().unwrap_or_else(|| named(node)),
        outcome,
        exit_code,
        extent,
        chain: tree::critical_path(&spans),
        gaps: tree::gaps(&spans),
        spans,
        running,
        diagnosis,
        earlier: earlier(&data),
        system,
        life,
        skipped,
    }
}

fn named(node: &str) -> String {
    if node.is_empty() { "node".to_owned() } else { tidy(node, MAX_NAME) }
}

fn exit_code_of(data: &NodeData) -> Option<i64> {
    let reported = data.report.as_ref().and_then(|report| report.status.code().ok());
    let spans =
        || data.summary.get("ExitCode").and_then(|code| exit_code(code).trim().parse().ok());
    reported.or_else(spans).or_else(|| data.life.as_ref()?.code)
}

fn cause(report: &[u8]) -> Option<mooring_diagnosis::Diagnosis> {
    let hints = Hints { os: Some(Os::Linux), ..Hints::default() };
    let found = diagnose_bounded(report, hints).into_iter().next()?;
    (found.outcome != mooring_diagnosis::BootstrapOutcome::Succeeded).then_some(found)
}

fn earlier(data: &NodeData) -> Option<BootstrapAttempt> {
    let (facts, text) = data.earlier.as_ref()?;
    let started = facts.status.timings.cse_start_time.as_deref();
    Some(BootstrapAttempt {
        exit_code: facts.status.code().ok(),
        started: started.map(|started| tidy(started, MAX_NAME)),
        diagnosis: cause(text),
    })
}

/// Converts all spans with a known start to one clock.
fn begun(data: &NodeData) -> Vec<FoundSpan> {
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
fn of_one_boot(mut found: Vec<FoundSpan>, skipped: &mut Vec<SkippedFile>) -> Vec<FoundSpan> {
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

fn merged(mut found: Vec<FoundSpan>) -> Vec<FoundSpan> {
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
fn bounded(mut found: Vec<FoundSpan>, skipped: &mut Vec<SkippedFile>) -> Vec<FoundSpan> {
    if found.len() > MAX_SPANS {
        let path = format!("{} times", found.len() - MAX_SPANS);
        skipped.push(SkippedFile { path, why: format!("skipped: more than {MAX_SPANS} spans") });
        found.sort_by_key(|one| (one.kind == SpanKind::Step, one.start));
        found.truncate(MAX_SPANS);
    }
    found
}

/// Adds the scripts as a whole from the report if their last event is missing.
fn add_run(data: &NodeData, outcome: TimelineOutcome, found: &mut Vec<FoundSpan>) {
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
fn end_of_bootstrap(found: &[FoundSpan]) -> Option<Timestamp> {
    let end_of = |kind| found.iter().filter(|one| one.kind == kind).filter_map(|one| one.end).max();
    end_of(SpanKind::Run).or_else(|| end_of(SpanKind::Agent))
}

/// Sets ends, comparisons, order and nesting.
fn finished(
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

fn extent(spans: &[Span]) -> Option<Extent> {
    let begin = spans.iter().map(|span| span.start).min()?;
    let end = spans.iter().map(|span| span.end).max()?;
    Some(Extent { begin, end })
}

/// Finds the step that was running when the run failed. Adds a span if its start is known.
fn running(
    data: &NodeData,
    outcome: TimelineOutcome,
    code: Option<i64>,
    found: &mut Vec<FoundSpan>,
) -> Option<(String, String)> {
    if outcome == TimelineOutcome::Succeeded {
        return None;
    }
    let step_spans = || found.iter().filter(|one| one.kind == SpanKind::Step);
    let last_done = step_spans().filter(|one| one.end.is_some()).max_by_key(|one| one.end);
    let last_end = last_done.and_then(|one| one.end);
    let called = data.called.filter(|called| {
        let open = data.open.last().map_or("", |(name, _)| name.as_str());
        steps::exits_with(called, code) && !steps::exits_with(open, code)
    });
    let (name, evidence) = match data.open.last() {
        Some(_) if called.is_some() => (
            format!("AKS.CSE.{}", called.unwrap_or_default()),
            format!("called in the script trace, and exits with code {}", code.unwrap_or_default()),
        ),
        Some((name, _)) => {
            (name.clone(), "started but not finished in the script trace".to_owned())
        }
        // Without a report and a trace, no failure is known.
        // Errors of the agent precede all scripts, and its exit codes are also those of later steps.
        None if last_done.is_none() && is_agents_own(data) => return None,
        // The code in the failure record alone may be that of several steps.
        None if data.report.is_none() && data.life.is_some() => return None,
        None if outcome == TimelineOutcome::Failed => {
            steps::infer(last_done.map(|one| one.name.as_str()), code)?
        }
        None => return None,
    };
    let exists = step_spans().any(|one| one.name == name && one.end.is_none());
    let run_start = found.iter().find(|one| one.kind == SpanKind::Run).map(|one| one.start);
    if !exists && let Some(start) = last_end.or(run_start) {
        let end = end_of_bootstrap(found);
        if end.is_none_or(|end| start < end) {
            let source = SpanSource::Concluded;
            found.push(FoundSpan::new(name.clone(), SpanKind::Step, start, source));
        }
    }
    Some((name, evidence))
}

/// Only the agent sets a report's error; if it starts with a code name, no script ran.
fn is_agents_own(data: &NodeData) -> bool {
    data.report.as_ref().is_some_and(|report| report.status.error.starts_with("ERR_"))
}
