//! From what the files tell to one timeline.

use jiff::{SignedDuration, Timestamp};
use mooring_codes::Os;
use mooring_diagnosis::{Hints, diagnose_bounded};

use crate::escape::tidy;
use crate::files::{self, File};
use crate::gather::{Gathered, gather};
use crate::read::{LONGEST_NAME, MOST, exit_code};
use crate::timeline::{
    Attempt, Extent, Kind, Outcome, Running, Skipped, Source, Span, Status, Timeline,
};
use crate::{chain, field, gaps, steps, tree};

/// What lies further from the bootstrap than this belongs to another boot, or to a clock that was not set yet.
const LONG_BEFORE: SignedDuration = SignedDuration::from_hours(6);
const LONG_AFTER: SignedDuration = SignedDuration::from_hours(24);
/// Two sources that tell of the same thing agree within this: a step's stamps are the same text in both, the agent's
/// are taken one after the other.
const SAME_STEP: SignedDuration = SignedDuration::from_millis(5);
const SAME_AGENT: SignedDuration = SignedDuration::from_secs(2);

/// The timelines of all nodes in these files, by name.
pub fn read(files: &[File]) -> Vec<Timeline> {
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
    /// The timeline of one node, whose name is used if no log tells one.
    #[must_use]
    pub fn of(node: &str, files: &[File]) -> Self {
        assemble(node, &files.iter().collect::<Vec<_>>())
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
            && self.exit_code.is_none()
            && self.diagnosis.is_none()
            && self.running.is_none()
    }
}

fn assemble(node: &str, files: &[&File]) -> Timeline {
    let gathered = gather(files);
    let exit_code = exit_code_of(&gathered);
    let agent_failed = gathered.told.iter().any(|told| told.kind == Kind::Agent && told.failed);
    let outcome = match exit_code {
        Some(0) => Outcome::Succeeded,
        Some(_) => Outcome::Failed,
        None if agent_failed => Outcome::Failed,
        None => Outcome::Unknown,
    };
    let system = gathered.system.unwrap_or_default();
    let mut skipped = gathered.skipped.clone();
    let mut found = bounded(merged(of_one_boot(begun(&gathered), &mut skipped)), &mut skipped);
    add_run(&gathered, outcome, &mut found);
    let running = running(&gathered, outcome, exit_code, &mut found);
    let spans = finished(found, outcome, system);
    let running = running.map(|(name, evidence)| {
        let is_it = |span: &Span| span.name == name && span.status == Status::Unfinished;
        Running { span: spans.iter().rposition(is_it), name, evidence }
    });
    let extent = extent(&spans);
    Timeline {
        node: gathered.host.clone().unwrap_or_else(|| named(node)),
        outcome,
        exit_code,
        extent,
        chain: chain::longest(&spans),
        gaps: gaps::find(&spans),
        spans,
        running,
        diagnosis: diagnosis(&gathered, outcome),
        earlier: earlier(&gathered),
        system,
        skipped,
    }
}

/// A folder's name is foreign text, too.
fn named(node: &str) -> String {
    if node.is_empty() { "node".to_owned() } else { tidy(node, LONGEST_NAME) }
}

fn exit_code_of(gathered: &Gathered) -> Option<i64> {
    let reported = gathered.report.as_ref().and_then(|report| report.status.code().ok());
    let told =
        || gathered.summary.get("ExitCode").and_then(|code| exit_code(code).trim().parse().ok());
    reported.or_else(told)
}

fn diagnosis(gathered: &Gathered, outcome: Outcome) -> Option<mooring_diagnosis::Diagnosis> {
    if outcome == Outcome::Succeeded {
        return None;
    }
    cause(&gathered.report_text)
}

fn cause(report: &[u8]) -> Option<mooring_diagnosis::Diagnosis> {
    let hints = Hints { os: Some(Os::Linux), image_date: None };
    let found = diagnose_bounded(report, hints).into_iter().next()?;
    (found.outcome != mooring_diagnosis::Outcome::Succeeded).then_some(found)
}

fn earlier(gathered: &Gathered) -> Option<Attempt> {
    let (facts, text) = gathered.earlier.as_ref()?;
    let started = facts.status.timings.cse_start_time.as_deref();
    Some(Attempt {
        exit_code: facts.status.code().ok(),
        started: started.map(|started| tidy(started, LONGEST_NAME)),
        diagnosis: cause(text),
    })
}

/// A span on its way: without an end if nothing tells one.
#[derive(Debug, Clone)]
struct Found {
    name: String,
    kind: Kind,
    start: Timestamp,
    end: Option<Timestamp>,
    failed: bool,
    sources: Vec<Source>,
    message: String,
}

/// Everything with a beginning, on one clock.
fn begun(gathered: &Gathered) -> Vec<Found> {
    let told = gathered.told.iter().filter_map(|told| {
        let start = gathered.at(told.start)?;
        Some(Found {
            name: told.name.clone(),
            kind: told.kind,
            start,
            end: told.end.and_then(|end| gathered.at(end)).map(|end| end.max(start)),
            failed: told.failed,
            sources: vec![told.source],
            message: told.message.clone(),
        })
    });
    told.collect()
}

/// Without what belongs to another boot.
fn of_one_boot(mut found: Vec<Found>, skipped: &mut Vec<Skipped>) -> Vec<Found> {
    let run = found.iter().filter(|one| one.kind == Kind::Run).map(|one| one.start).max();
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
        skipped.push(Skipped { path: format!("{left_out} times"), why });
    }
    found
}

fn merged(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by(|a, b| (&a.name, a.start).cmp(&(&b.name, b.start)));
    let mut merged: Vec<Found> = Vec::with_capacity(found.len());
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

/// Not more than any node has: whatever is done with spans may compare each with each.
fn bounded(mut found: Vec<Found>, skipped: &mut Vec<Skipped>) -> Vec<Found> {
    if found.len() > MOST {
        let path = format!("{} times", found.len() - MOST);
        skipped.push(Skipped { path, why: format!("left out: more than {MOST} are told") });
        found.sort_by_key(|one| (one.kind == Kind::Step, one.start));
        found.truncate(MOST);
    }
    found
}

/// The scripts as a whole, from the report, where their last event is gone.
fn add_run(gathered: &Gathered, outcome: Outcome, found: &mut Vec<Found>) {
    let Some(report) = &gathered.report else { return };
    let Some(start) = report.began.and_then(|began| gathered.at(began)) else { return };
    if found.iter().any(|one| one.kind == Kind::Run) {
        return;
    }
    let seconds = report.seconds.map(SignedDuration::from_secs);
    let told_end = seconds.and_then(|seconds| start.checked_add(seconds).ok());
    let last_step =
        found.iter().filter(|one| one.kind == Kind::Step).filter_map(|one| one.end).max();
    // The report counts whole seconds.
    let is_rounding =
        |step: &Timestamp, end: Timestamp| step.duration_since(end) < SignedDuration::from_secs(2);
    let end = told_end.map(|end| {
        last_step.filter(|step| is_rounding(step, end)).map_or(end, |step| end.max(step))
    });
    found.push(Found {
        name: "AKS.CSE.cse_start".to_owned(),
        kind: Kind::Run,
        start,
        end,
        failed: outcome == Outcome::Failed,
        sources: vec![Source::Report],
        message: String::new(),
    });
}

/// When the scripts, or else the agent, came to their end.
fn end_of_bootstrap(found: &[Found]) -> Option<Timestamp> {
    let end_of = |kind| found.iter().filter(|one| one.kind == kind).filter_map(|one| one.end).max();
    end_of(Kind::Run).or_else(|| end_of(Kind::Agent))
}

/// The step that was running when the run ended badly. It gets a span if its beginning is known.
fn running(
    gathered: &Gathered,
    outcome: Outcome,
    code: Option<i64>,
    found: &mut Vec<Found>,
) -> Option<(String, String)> {
    if outcome == Outcome::Succeeded {
        return None;
    }
    let steps = || found.iter().filter(|one| one.kind == Kind::Step);
    let last_done = steps().filter(|one| one.end.is_some()).max_by_key(|one| one.end);
    let last_end = last_done.and_then(|one| one.end);
    let (name, evidence) = match gathered.open.last() {
        Some((name, _)) => (
            name.clone(),
            "the scripts' trace begins it and does not end it; it has left no event".to_owned(),
        ),
        // Without a report, and without a trace, nothing says that anything failed.
        // The agent's own findings come before any script, and its codes are those of later steps, too.
        None if last_done.is_none() && is_agents_own(gathered) => return None,
        None if outcome == Outcome::Failed => {
            steps::conclude(last_done.map(|one| one.name.as_str()), code)?
        }
        None => return None,
    };
    let is_there = steps().any(|one| one.name == name && one.end.is_none());
    let run_start = found.iter().find(|one| one.kind == Kind::Run).map(|one| one.start);
    if !is_there && let Some(start) = last_end.or(run_start) {
        let end = end_of_bootstrap(found);
        if end.is_none_or(|end| start < end) {
            found.push(Found {
                name: name.clone(),
                kind: Kind::Step,
                start,
                end: None,
                failed: false,
                sources: vec![Source::Concluded],
                message: String::new(),
            });
        }
    }
    Some((name, evidence))
}

/// Only the agent fills a report's error; a code's name before it says that it ran no script.
fn is_agents_own(gathered: &Gathered) -> bool {
    gathered.report.as_ref().is_some_and(|report| report.status.error.starts_with("ERR_"))
}

/// Ends, comparisons, order and nesting.
fn finished(found: Vec<Found>, outcome: Outcome, system: field::System) -> Vec<Span> {
    let latest = found.iter().map(|one| one.end.unwrap_or(one.start)).max();
    let end_of_all = end_of_bootstrap(&found).or(latest);
    let spans = found.into_iter().filter_map(|one| {
        let status = match one.end {
            _ if one.failed => Status::Failed,
            Some(end) if end == one.start && one.kind == Kind::Boot => Status::Instant,
            Some(_) => Status::Done,
            // Left open by a job in the background, or by a log that was cut.
            None if outcome == Outcome::Succeeded => return None,
            None => Status::Unfinished,
        };
        let end = one.end.or(end_of_all).map_or(one.start, |end| end.max(one.start));
        let seconds = end.duration_since(one.start).as_secs_f64();
        let comparison = match one.kind {
            Kind::Step => Some(field::compare(&one.name, seconds, system)),
            Kind::Run => Some(field::compare_run(seconds)),
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
