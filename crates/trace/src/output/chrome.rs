//! Timelines in the trace event format of `chrome://tracing` and Perfetto: one process per node, one thread per lane.

use serde_json::{Value, json};

use crate::timeline::{Span, SpanStatus, Timeline};

pub fn to_json(timelines: &[Timeline]) -> String {
    let mut events = Vec::new();
    for (process, timeline) in (1_u32..).zip(timelines) {
        events.push(json!({
            "ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": timeline.node},
        }));
        let mut named = Vec::new();
        for span in &timeline.spans {
            if !named.contains(&span.lane) {
                named.push(span.lane);
                events.push(json!({
                    "ph": "M", "name": "thread_name", "pid": process, "tid": span.lane + 1,
                    "args": {"name": lane_name(span, named.len())},
                }));
            }
            events.push(event(span, process));
        }
    }
    let document = json!({"displayTimeUnit": "ms", "traceEvents": events});
    format!("{document}\n")
}

fn lane_name(span: &Span, number: usize) -> String {
    use crate::timeline::SpanKind;
    match span.kind {
        SpanKind::Stage => "stages".to_owned(),
        SpanKind::Boot => "boot".to_owned(),
        SpanKind::Beside => format!("concurrent {number}"),
        _ => format!("bootstrap {number}"),
    }
}

fn event(span: &Span, process: u32) -> Value {
    let sources: Vec<&str> = span.sources.iter().map(|source| source.as_str()).collect();
    let mut arguments = json!({"status": span.status, "sources": sources.join(",")});
    if let Some(comparison) = span.comparison {
        arguments["pace"] = json!(comparison.pace);
        if let Some(figures) = comparison.figures {
            arguments["p50"] = json!(figures.p50);
            arguments["p95"] = json!(figures.p95);
        }
    }
    if !span.message.is_empty() {
        arguments["message"] = json!(span.message);
    }
    let mut event = json!({
        "name": span.name, "cat": span.kind, "pid": process, "tid": span.lane + 1,
        "ts": span.start.as_microsecond(), "args": arguments,
    });
    if span.status == SpanStatus::Instant {
        event["ph"] = json!("i");
        event["s"] = json!("p");
    } else {
        event["ph"] = json!("X");
        event["dur"] = json!(span.end.as_microsecond() - span.start.as_microsecond());
    }
    event
}
