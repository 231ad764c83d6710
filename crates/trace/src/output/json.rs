//! Timelines as JSON, schema `mooring.trace/v1`.

use mooring_diagnosis::Diagnosis;
use serde::Serialize;
use serde_json::{Value, json};

use crate::life::NodeLife;
use crate::production::SOURCE;
use crate::timeline::{Span, SpanKind, Timeline};
use crate::tree::own_seconds;

pub const SCHEMA: &str = "mooring.trace/v1";

/// The content of the document. Members are only ever added. The command adds schema, time, cluster and sources.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceContent {
    figures: &'static str,
    nodes: Vec<Value>,
}

impl TraceContent {
    #[must_use]
    pub fn new(timelines: &[Timeline]) -> Self {
        Self { figures: SOURCE, nodes: timelines.iter().map(node).collect() }
    }
}

fn node(timeline: &Timeline) -> Value {
    let earlier = timeline.earlier.as_ref().map(|earlier| {
        json!({
            "exitCode": earlier.exit_code,
            "started": earlier.started,
            "diagnosis": earlier.diagnosis.as_ref().map(diagnosed),
        })
    });
    let own = own_seconds(&timeline.spans, &timeline.chain);
    let chain = timeline.chain.iter();
    let chain = chain.map(|&index| json!({"span": index, "ownSeconds": rounded(own[index])}));
    let gaps = timeline.gaps.iter().map(|gap| {
        json!({
            "start": gap.start.to_string(), "end": gap.end.to_string(), "seconds": rounded(gap.seconds()),
            "after": gap.after, "before": gap.before,
        })
    });
    json!({
        "node": timeline.node,
        "outcome": timeline.outcome,
        "exitCode": timeline.exit_code,
        "start": timeline.extent.map(|extent| extent.begin.to_string()),
        "end": timeline.extent.map(|extent| extent.end.to_string()),
        "seconds": timeline.extent.map(|extent| rounded(extent.seconds())),
        "system": timeline.system.as_str(),
        "diagnosis": timeline.diagnosis.as_ref().map(diagnosed),
        "earlier": earlier,
        "life": timeline.life.as_ref().map(life),
        "running": timeline.running,
        "spans": timeline.spans.iter().map(|one| span(one, timeline.life.as_ref())).collect::<Vec<_>>(),
        "chain": chain.collect::<Vec<_>>(),
        "gaps": gaps.collect::<Vec<_>>(),
        "skipped": timeline.skipped,
    })
}

fn diagnosed(diagnosis: &Diagnosis) -> Value {
    json!({
        "cause": diagnosis.reason,
        "code": diagnosis.effective.code,
        "name": diagnosis.effective.name,
        "confidence": diagnosis.confidence.as_str(),
        "owner": diagnosis.owner.as_str(),
        "summary": diagnosis.summary,
        "evidence": diagnosis.evidence.iter().map(|one| &one.line).collect::<Vec<_>>(),
        "actions": diagnosis.actions,
    })
}

fn life(life: &NodeLife) -> Value {
    json!({
        "nodeClaim": life.node_claim,
        "pool": life.pool,
        "state": life.state,
        "cause": life.cause,
    })
}

fn span(span: &Span, life: Option<&NodeLife>) -> Value {
    let usual =
        life.filter(|_| span.kind == SpanKind::Stage).and_then(|life| life.usual(&span.name));
    let field = span.comparison.map(|one| {
        json!({
            "pace": one.pace,
            "limit": one.limit,
            "p50": one.figures.map(|figures| figures.p50),
            "p95": one.figures.map(|figures| figures.p95),
            "p99": one.figures.map(|figures| figures.p99),
            "system": one.figures.map(|figures| figures.system.as_str()),
        })
    });
    json!({
        "name": span.name,
        "kind": span.kind,
        "start": span.start.to_string(),
        "end": span.end.to_string(),
        "seconds": rounded(span.seconds()),
        "status": span.status,
        "sources": span.sources.iter().map(|source| source.as_str()).collect::<Vec<_>>(),
        "parent": span.parent,
        "lane": span.lane,
        "usualSeconds": usual,
        "message": Some(&span.message).filter(|message| !message.is_empty()),
        "field": field,
    })
}

/// Rounds to microseconds, the precision of the input.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}
