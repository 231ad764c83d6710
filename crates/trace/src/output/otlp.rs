//! Timelines as OTLP/JSON, the body of a `POST /v1/traces` to any OpenTelemetry collector.
//!
//! One trace per node, under one root; instants are events of the root. Ids are hashes of their contents, so sending a
//! timeline twice sends the same trace twice.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::timeline::{Span, SpanStatus, Timeline, TimelineOutcome};

pub fn to_json(timelines: &[Timeline]) -> String {
    let resources: Vec<Value> = timelines.iter().map(resource).collect();
    let document = json!({"resourceSpans": resources});
    format!("{document}\n")
}

fn resource(timeline: &Timeline) -> Value {
    let spans = timeline.extent.map(|extent| spans(timeline, extent.begin, extent.end));
    let attributes = [
        text("service.name", "aks-node-bootstrap"),
        text("host.name", &timeline.node),
        text("os.description", timeline.system.as_str()),
    ];
    json!({
        "resource": {"attributes": attributes},
        "scopeSpans": [{
            "scope": {"name": "mooring.trace", "version": env!("CARGO_PKG_VERSION")},
            "spans": spans.unwrap_or_default(),
        }],
    })
}

/// `STATUS_CODE_OK` and `STATUS_CODE_ERROR`.
const OK: u8 = 1;
const ERROR: u8 = 2;
/// `SPAN_KIND_INTERNAL`.
const INTERNAL: u8 = 1;

fn spans(timeline: &Timeline, begin: Timestamp, end: Timestamp) -> Vec<Value> {
    let trace = format!(
        "{}{}",
        id(&["trace", &timeline.node], begin),
        id(&["trace2", &timeline.node], end)
    );
    let root = id(&["root", &timeline.node], begin);
    let ids: Vec<String> = timeline
        .spans
        .iter()
        .enumerate()
        .map(|(index, span)| id(&[&index.to_string(), &span.name, &timeline.node], span.start))
        .collect();
    let is_instant = |span: &Span| span.status == SpanStatus::Instant;
    let instants = timeline.spans.iter().filter(|span| is_instant(span));
    let instants =
        instants.map(|span| json!({"timeUnixNano": nanos(span.start), "name": span.name}));
    let mut attributes = vec![text("mooring.outcome", timeline.outcome)];
    if let Some(code) = timeline.exit_code {
        attributes
            .push(json!({"key": "mooring.exit_code", "value": {"intValue": code.to_string()}}));
    }
    if let Some(diagnosis) = &timeline.diagnosis {
        attributes.push(text("mooring.reason", &diagnosis.reason));
    }
    if let Some(running) = &timeline.running {
        attributes.push(text("mooring.running", &running.name));
    }
    let status = match (timeline.outcome, &timeline.diagnosis) {
        (TimelineOutcome::Succeeded, _) => json!({"code": OK}),
        (TimelineOutcome::Failed, Some(diagnosis)) => {
            json!({"code": ERROR, "message": diagnosis.summary})
        }
        (TimelineOutcome::Failed, None) => json!({"code": ERROR}),
        (TimelineOutcome::Unknown, _) => json!({}),
    };
    let mut all = vec![json!({
        "traceId": trace, "spanId": root, "name": "node bootstrap", "kind": INTERNAL,
        "startTimeUnixNano": nanos(begin), "endTimeUnixNano": nanos(end),
        "attributes": attributes, "events": instants.collect::<Vec<_>>(), "status": status,
    })];
    for (index, span) in timeline.spans.iter().enumerate().filter(|(_, span)| !is_instant(span)) {
        let parent = span.parent.map_or(&root, |parent| &ids[parent]);
        let status = match span.status {
            SpanStatus::Unfinished => json!({"code": ERROR, "message": "it never ended"}),
            SpanStatus::Failed => json!({"code": ERROR, "message": span.message}),
            SpanStatus::Done | SpanStatus::Instant => json!({}),
        };
        let sources: Vec<&str> = span.sources.iter().map(|source| source.as_str()).collect();
        let mut attributes =
            vec![text("mooring.kind", span.kind), text("mooring.sources", sources.join(","))];
        if let Some(comparison) = span.comparison {
            attributes.push(text("mooring.pace", comparison.pace));
        }
        all.push(json!({
            "traceId": trace, "spanId": ids[index], "parentSpanId": parent, "name": span.name, "kind": INTERNAL,
            "startTimeUnixNano": nanos(span.start), "endTimeUnixNano": nanos(span.end),
            "attributes": attributes, "status": status,
        }));
    }
    all
}

fn text(key: &str, value: impl Serialize) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// 64-bit integers are strings in this format. Times before 1970 become 0.
fn nanos(at: Timestamp) -> String {
    at.as_nanosecond().max(0).to_string()
}

/// FNV-1a of the parts in hexadecimal, never all zero.
fn id(parts: &[&str], at: Timestamp) -> String {
    let instant = at.as_nanosecond().to_le_bytes();
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0])).chain(instant);
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{:016x}", hash.max(1))
}
