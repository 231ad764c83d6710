//! Renders a timeline as a chart: one row per span, in order of time.

use std::fmt::Write as _;

use super::bars::{self, Bar, BarRow, Chart, Tone, span_of_time};
use crate::production::Speed;
use crate::timeline::{Extent, Gap, Span, SpanKind, SpanStatus, Timeline, TimelineOutcome};

/// Renders the chart with a legend as a fragment for a [`crate::output::page::HtmlPage`].
pub fn svg(timeline: &Timeline) -> String {
    format!("{}{}", bars::svg(&chart(timeline)), LEGEND)
}

const LEGEND: &str = r#"<ul class="legend">
<li><svg viewBox="0 0 26 12" aria-hidden="true"><rect class="bar plain" x="1" y="1" width="24" height="10" rx="1.5"/></svg>as usual</li>
<li><svg viewBox="0 0 26 12" aria-hidden="true"><rect class="bar slow" x="1" y="1" width="24" height="10" rx="1.5"/></svg>slower than p95 (see its note)</li>
<li><svg viewBox="0 0 26 12" aria-hidden="true"><rect class="bar open" x="1" y="1" width="24" height="10" rx="1.5"/></svg>started, not finished</li>
<li><svg viewBox="0 0 26 12" aria-hidden="true"><rect class="bar plain chain" x="1" y="1" width="24" height="10" rx="1.5"/></svg>on the critical path</li>
<li><svg viewBox="0 0 26 12" aria-hidden="true"><path class="bar calm" d="M13 1l5 5l-5 5l-5 -5z"/></svg>instant</li>
<li><svg viewBox="0 0 26 12" aria-hidden="true"><rect class="bar empty" x="1" y="1" width="24" height="10" rx="1.5"/></svg>nothing was recorded</li>
</ul>
"#;

pub fn chart(timeline: &Timeline) -> Chart {
    let Some(extent) = timeline.extent else {
        return Chart {
            label: format!("No timestamps found for {}.", timeline.node),
            ..Chart::default()
        };
    };
    let shown = timeline.shown().into_iter();
    let mut rows: Vec<BarRow> =
        shown.map(|index| row(timeline, index, &timeline.spans[index])).collect();
    rows.extend(silence(timeline, extent));
    Chart { label: label(timeline, extent.seconds()), seconds: extent.seconds(), rows }
}

/// Text alternative of the chart.
fn label(timeline: &Timeline, seconds: f64) -> String {
    let outcome = match timeline.outcome {
        TimelineOutcome::Succeeded => "succeeded",
        TimelineOutcome::Failed => "failed",
        TimelineOutcome::Unknown => "has an unknown result",
    };
    let running =
        timeline.running.as_ref().map(|running| format!(" Last running step: {}.", running.name));
    format!(
        "Waterfall of {} spans over {}: the bootstrap of {} {outcome}.{} The table below has the same data.",
        timeline.spans.len(),
        span_of_time(seconds),
        timeline.node,
        running.unwrap_or_default()
    )
}

fn row(timeline: &Timeline, index: usize, span: &Span) -> BarRow {
    let from = timeline.extent.map_or(0.0, |extent| extent.seconds_to(span.start));
    let on_chain = timeline.chain.binary_search(&index).is_ok();
    let is_instant = span.status == SpanStatus::Instant;
    let bar = Bar {
        from,
        to: if is_instant { from } else { from + span.seconds().max(0.001) },
        tone: tone(span),
        outlined: on_chain,
    };
    let note = note(span);
    let tip = format!("{}: {note}, {} after the start", span.name, span_of_time(from));
    BarRow {
        label: timeline.label(index).to_owned(),
        indent: span.depth,
        strong: matches!(span.kind, SpanKind::Agent | SpanKind::Run)
            || span.status == SpanStatus::Unfinished,
        bars: vec![bar],
        note: if is_instant { format!("at {}", span_of_time(from)) } else { note },
        tip,
    }
}

fn tone(span: &Span) -> Tone {
    match (span.status, span.kind) {
        (SpanStatus::Unfinished, _) => Tone::Open,
        (SpanStatus::Failed, _) => Tone::Failed,
        (_, SpanKind::Step) if span.is_slow() => Tone::Slow,
        (_, SpanKind::Step) => Tone::Plain,
        _ => Tone::Calm,
    }
}

/// Duration, comparison and result: everything that a color shows, as text.
pub(crate) fn note(span: &Span) -> String {
    let mut note = match span.status {
        SpanStatus::Instant => return "instant".to_owned(),
        SpanStatus::Unfinished => format!("✗ unfinished, {}", span_of_time(span.seconds())),
        SpanStatus::Failed => format!("✗ failed after {}", span_of_time(span.seconds())),
        SpanStatus::Done => span_of_time(span.seconds()),
    };
    if let Some(comparison) = span.comparison.filter(|one| one.pace != Speed::Usual) {
        let limit = if comparison.figures.is_some() { "p95" } else { "limit" };
        let _ = write!(note, ", slow: {limit} is {}", span_of_time(comparison.limit));
    }
    note
}

fn silence(timeline: &Timeline, extent: Extent) -> Option<BarRow> {
    let longest = timeline.longest_gap()?;
    let bar = |gap: &Gap| Bar {
        from: extent.seconds_to(gap.start),
        to: extent.seconds_to(gap.end),
        tone: Tone::Empty,
        ..Bar::default()
    };
    let total: f64 = timeline.gaps.iter().map(Gap::seconds).sum();
    Some(BarRow {
        label: format!("nothing recorded ({})", span_of_time(total)),
        bars: timeline.gaps.iter().map(bar).collect(),
        tip: format!(
            "Nothing was recorded for {} in all; the longest gap, {}, is after {} and before {}",
            span_of_time(total),
            span_of_time(longest.seconds()),
            longest.after,
            longest.before
        ),
        ..BarRow::default()
    })
}
