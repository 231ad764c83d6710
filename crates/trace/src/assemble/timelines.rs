//! The timelines of all nodes, or of one.

use mooring_codes::Os;
use mooring_diagnosis::{Hints, diagnose_bounded};

use super::gaps;
use super::running::running;
use super::spans::{add_run, begun, bounded, extent, finished, merged, of_one_boot};
use crate::escape::tidy;
use crate::model::critical_path;
use crate::model::life::{LifeState, NodeLife};
use crate::model::timeline::{
    BootstrapAttempt, RunningStep, Span, SpanKind, SpanStatus, Timeline, TimelineOutcome,
};
use crate::read::collect::{NodeData, collect};
use crate::read::files::{self, TraceFile};
use crate::read::{MAX_NAME, exit_code};

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
        chain: critical_path::find(&spans),
        gaps: gaps::find(&spans),
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
