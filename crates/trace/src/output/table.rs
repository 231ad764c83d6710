//! Renders a timeline for a terminal.

use std::fmt::Write as _;

use super::bars::span_of_time;
use crate::production::{SOURCE, Speed};
use crate::timeline::{Extent, SpanKind, SpanStatus, Timeline, TimelineOutcome};
use crate::tree::links;

const PICTURE: usize = 28;
/// Width of a name, including indentation.
const NAME: usize = 46;
const LISTED: usize = 5;

pub fn table(timelines: &[Timeline]) -> String {
    if timelines.is_empty() {
        return "There is nothing of a node's bootstrap in this.\n".to_owned();
    }
    timelines.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(timeline: &Timeline) -> String {
    let mut text = headline(timeline);
    let Some(extent) = timeline.extent else {
        text.push_str("  times       unknown (no timestamps found)\n");
        left_out(timeline, &mut text);
        return text;
    };
    let begin = extent.begin.strftime("%F %T%.3f UTC");
    let _ = writeln!(text, "  times       {} from {begin}", span_of_time(extent.seconds()));
    let _ = writeln!(
        text,
        "\n  {:<NAME$} {:>10} {:>10} {:>20}  when",
        "span", "began", "took", "production p50 / p95"
    );
    for index in timeline.shown() {
        row(timeline, index, &extent, &mut text);
    }
    chain(timeline, &mut text);
    gaps(timeline, &extent, &mut text);
    left_out(timeline, &mut text);
    let _ = writeln!(
        text,
        "\n  * on the critical path   ! slower than p95 or the limit   ✗ failed or unfinished\n  \
         Figures: {}, {SOURCE}",
        timeline.system.as_str()
    );
    text
}

fn headline(timeline: &Timeline) -> String {
    let code = timeline.exit_code.map(|code| format!(", exit code {code}")).unwrap_or_default();
    let mut text = match timeline.outcome {
        TimelineOutcome::Succeeded => format!("{}: the bootstrap succeeded{code}\n", timeline.node),
        TimelineOutcome::Failed => format!("{}: the bootstrap failed{code}\n", timeline.node),
        TimelineOutcome::Unknown => {
            format!("{}: result unknown (no report found)\n", timeline.node)
        }
    };
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<11} {value}");
    };
    if let Some(diagnosis) = &timeline.diagnosis {
        row("cause", &diagnosis.summary);
        let name = diagnosis.effective.name.as_deref().unwrap_or(&diagnosis.reason);
        row("name", &format!("{name} ({} confidence)", diagnosis.confidence));
        row("owner", diagnosis.owner.as_str());
        if let Some(evidence) = diagnosis.evidence.first() {
            row("evidence", &evidence.line);
        }
        if let Some(first) = diagnosis.actions.first() {
            row("next step", first);
        }
    }
    if let Some(earlier) = &timeline.earlier {
        row("earlier", &earlier.summary());
    }
    if let Some(running) = &timeline.running {
        row("last step", &running.name);
        row("evidence", &running.evidence);
    }
    let is_hotfix = |span: &&crate::Span| span.name.ends_with("Hotfix") && !span.message.is_empty();
    for span in timeline.spans.iter().filter(is_hotfix) {
        row("hotfix", &span.message);
    }
    text
}

fn row(timeline: &Timeline, index: usize, extent: &Extent, text: &mut String) {
    let span = &timeline.spans[index];
    let from = extent.seconds_to(span.start);
    let name = format!("{}{}", "  ".repeat(span.depth.min(5)), timeline.label(index));
    let mark = match (span.status, span.comparison.map(|one| one.pace)) {
        (SpanStatus::Unfinished | SpanStatus::Failed, _) => '✗',
        (_, Some(Speed::Slow | Speed::VerySlow)) => '!',
        _ if timeline.chain.binary_search(&index).is_ok() && span.kind == SpanKind::Step => '*',
        _ => ' ',
    };
    let took = match span.status {
        SpanStatus::Instant => String::new(),
        _ => span_of_time(span.seconds()),
    };
    let figures = span.comparison.and_then(|one| one.figures);
    let figures = figures.map(|one| format!("{} / {} s", one.p50, one.p95)).unwrap_or_default();
    let _ = writeln!(
        text,
        "{mark} {:<NAME$} {:>10} {took:>10} {figures:>20}  {}",
        crate::escape::tidy(&name, NAME),
        format!("+{}", span_of_time(from)),
        picture(from, span.seconds(), extent.seconds(), span.status)
    );
}

/// Draws the position of a span within the timeline.
fn picture(from: f64, seconds: f64, whole: f64, status: SpanStatus) -> String {
    let cell = |at: f64| {
        let part = (at / whole.max(0.001)).clamp(0.0, 1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "between 0 and the width of the chart"
        )]
        let cell = (part * PICTURE as f64) as usize;
        cell.min(PICTURE - 1)
    };
    let (first, last) = (cell(from), cell(from + seconds));
    let bar = match status {
        SpanStatus::Instant => "◆".to_owned(),
        SpanStatus::Unfinished => "▒".repeat(last - first + 1),
        SpanStatus::Done | SpanStatus::Failed => "█".repeat(last - first + 1),
    };
    format!("{}{bar}", "·".repeat(first))
}

fn chain(timeline: &Timeline, text: &mut String) {
    let links = links(timeline);
    if links.is_empty() {
        return;
    }
    text.push_str("\n  critical path, by own time\n");
    for (index, own) in links.into_iter().take(LISTED) {
        let name = timeline.spans[index].short_name();
        let _ = writeln!(text, "    {:>10}  {name}", span_of_time(own));
    }
}

fn gaps(timeline: &Timeline, extent: &Extent, text: &mut String) {
    if timeline.gaps.is_empty() {
        return;
    }
    let mut gaps: Vec<_> = timeline.gaps.iter().collect();
    gaps.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
    text.push_str("\n  longest gaps without log entries\n");
    for gap in gaps.into_iter().take(LISTED) {
        let from = span_of_time(extent.seconds_to(gap.start));
        let length = span_of_time(gap.seconds());
        let _ = writeln!(
            text,
            "    {length:>10}  from +{from}, after {}, before {}",
            gap.after, gap.before
        );
    }
}

fn left_out(timeline: &Timeline, text: &mut String) {
    if timeline.skipped.is_empty() {
        return;
    }
    text.push_str("\n  left out\n");
    for one in timeline.skipped.iter().take(20) {
        let _ = writeln!(text, "    {}: {}", one.path, one.why);
    }
    if timeline.skipped.len() > 20 {
        let _ = writeln!(text, "    and {} more", timeline.skipped.len() - 20);
    }
}
