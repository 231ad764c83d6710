//! A timeline as a page.

use std::fmt::Write as _;

use mooring_diagnosis::Diagnosis;

use crate::bars::span_of_time;
use crate::chain::links;
use crate::escape::escape;
use crate::field::{Pace, SOURCE, System};
use crate::page::{Cell, Mood, Page, facts, notice, table};
use crate::timeline::{Kind, Outcome, Source, Span, Status, Timeline};
use crate::waterfall;

/// How many links of the longest chain are listed.
const LONGEST_LINKS: usize = 8;

/// The page of these nodes.
pub fn page(timelines: &[Timeline]) -> String {
    let title = match timelines {
        [one] if one.outcome == Outcome::Failed => format!("Why {} did not come up", one.node),
        [one] => format!("How {} came up", one.node),
        several => format!("How {} nodes came up", several.len()),
    };
    let mut page = Page::new(&title);
    if let [one] = timelines {
        page = page.lead(&summary(one));
        for (heading, html) in details(one) {
            page = page.section(heading, &html);
        }
    } else {
        for one in timelines {
            let mut html = summary(one);
            for (heading, content) in details(one) {
                let _ = write!(html, "<h3>{}</h3>\n{content}", escape(heading));
            }
            page = page.section(&one.node, &html);
        }
    }
    page.footer(&format!(
        "Made by mooring {}. Figures of the field: {SOURCE}.",
        env!("CARGO_PKG_VERSION")
    ))
    .finish()
}

/// The cause, and the figures that matter most.
pub fn summary(timeline: &Timeline) -> String {
    let mut html = headline(timeline);
    let mut cards = Vec::new();
    if let Some(extent) = timeline.extent {
        let begin = extent.begin.strftime("from %F %T UTC").to_string();
        cards.push(("Known time", span_of_time(extent.seconds()), begin));
    }
    if let Some(run) = timeline.spans.iter().find(|span| span.kind == Kind::Run) {
        cards.push((
            "Scripts",
            span_of_time(run.seconds()),
            "time-out 15 min; test limit 60 s".to_owned(),
        ));
    }
    if let Some(&(longest, own)) = links(timeline).first() {
        let name = timeline.spans[longest].short_name().to_owned();
        cards.push(("Longest link", span_of_time(own), name));
    }
    if let Some(gap) = timeline.gaps.iter().max_by(|a, b| a.seconds().total_cmp(&b.seconds())) {
        let around = format!("{} → {}", gap.after, gap.before);
        cards.push(("Longest silence", span_of_time(gap.seconds()), around));
    }
    let slow =
        timeline.spans.iter().filter(|span| span.kind == Kind::Step && is_slow(span)).count();
    let steps = timeline.spans.iter().filter(|span| span.kind == Kind::Step).count();
    if steps > 0 {
        cards.push(("Slow steps", slow.to_string(), format!("of {steps}")));
    }
    html.push_str(&facts(&cards));
    html
}

fn headline(timeline: &Timeline) -> String {
    let mut rows = String::new();
    let mut row = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = write!(rows, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
        }
    };
    if let Some(running) = &timeline.running {
        row("Running at the end", &running.name);
        row("Known by", &running.evidence);
    }
    let code = timeline
        .exit_code
        .map_or_else(|| "no exit code".to_owned(), |code| format!("exit code {code}"));
    let (mood, text) = match (&timeline.diagnosis, timeline.outcome) {
        (Some(diagnosis), _) => {
            let name = diagnosis.effective.name.as_deref().unwrap_or(&diagnosis.reason);
            row("Cause", &format!("{name} ({} confidence)", diagnosis.confidence));
            row("Reported", &code);
            row("Owner", diagnosis.owner.as_str());
            for evidence in told_lines(diagnosis) {
                row("Seen", evidence);
            }
            for (number, action) in diagnosis.actions.iter().take(3).enumerate() {
                row(if number == 0 { "Do first" } else { "Then" }, action);
            }
            (Mood::Bad, diagnosis.summary.clone())
        }
        (None, Outcome::Succeeded) => (Mood::Good, "The bootstrap succeeded.".to_owned()),
        (None, Outcome::Failed) => (Mood::Bad, format!("The bootstrap failed: {code}.")),
        (None, Outcome::Unknown) => {
            (Mood::Plain, "There is no report: whether it went well is not known.".to_owned())
        }
    };
    if let Some(earlier) = &timeline.earlier {
        row("Earlier", &earlier.summary());
    }
    let details = if rows.is_empty() { String::new() } else { format!("<dl>{rows}</dl>") };
    notice(mood, &text, &details)
}

/// The lines that show the cause; that the report begins with its code is no news.
fn told_lines(diagnosis: &Diagnosis) -> impl Iterator<Item = &str> {
    let lines = diagnosis.evidence.iter().map(|evidence| evidence.line.as_str());
    lines.filter(|line| !line.starts_with("{\"ExitCode\"")).take(3)
}

fn is_slow(span: &Span) -> bool {
    span.comparison.is_some_and(|one| one.pace != Pace::Usual)
}

fn details(timeline: &Timeline) -> Vec<(&'static str, String)> {
    let mut sections = Vec::new();
    if timeline.spans.is_empty() {
        let html = "<p>No file tells a time. Event files, <code>cluster-provision.log</code> and a whole <code>provision.json</code> do.</p>";
        sections.push(("Waterfall", html.to_owned()));
    } else {
        sections.push(("Waterfall", waterfall::svg(timeline)));
        sections.push(("Longest chain", chain_table(timeline)));
        sections.push(("Every span", spans_table(timeline)));
    }
    if !timeline.gaps.is_empty() {
        sections.push(("Silences", gaps_table(timeline)));
    }
    if !timeline.skipped.is_empty() {
        let rows: Vec<Vec<Cell>> = timeline
            .skipped
            .iter()
            .map(|one| vec![Cell::Code(one.path.clone()), Cell::Text(one.why.clone())])
            .collect();
        sections
            .push(("Left out", table("Files that could not be used.", &["File", "Why"], &rows)));
    }
    sections
}

fn chain_table(timeline: &Timeline) -> String {
    let whole = timeline.extent.map_or(1.0, |extent| extent.seconds()).max(0.001);
    let rows: Vec<Vec<Cell>> = links(timeline)
        .into_iter()
        .take(LONGEST_LINKS)
        .map(|(index, own)| {
            vec![
                Cell::Code(timeline.spans[index].short_name().to_owned()),
                Cell::Number(span_of_time(own)),
                Cell::Number(format!("{:.0} %", own / whole * 100.0)),
            ]
        })
        .collect();
    table(
        "What would have to be shorter for the whole to be shorter; the longest links first.",
        &["Step", "By itself", "Of the whole"],
        &rows,
    )
}

fn spans_table(timeline: &Timeline) -> String {
    let rows: Vec<Vec<Cell>> = timeline
        .shown()
        .into_iter()
        .map(|index| {
            let span = &timeline.spans[index];
            let from = timeline.extent.map_or(0.0, |extent| extent.seconds_to(span.start));
            let figures = span.comparison.and_then(|one| one.figures);
            let figure =
                |value: Option<f64>| Cell::Number(value.map(span_of_time).unwrap_or_default());
            vec![
                Cell::Code(format!(
                    "{}{}",
                    "\u{a0}\u{a0}".repeat(span.depth.min(6)),
                    span.short_name()
                )),
                Cell::Number(format!("+{}", span_of_time(from))),
                Cell::Number(if span.status == Status::Instant {
                    String::new()
                } else {
                    span_of_time(span.seconds())
                }),
                figure(figures.map(|figures| figures.p50)),
                figure(figures.map(|figures| figures.p95)),
                Cell::Html(words(span)),
                Cell::Text(
                    span.sources
                        .iter()
                        .map(|source| told_by(*source))
                        .collect::<Vec<_>>()
                        .join(", "),
                ),
            ]
        })
        .collect();
    let system = timeline.system.as_str();
    let other = System::default().as_str();
    let others = if system == other { String::new() } else { format!(", else of {other}") };
    let caption =
        format!("The same facts in words; p50 and p95 of the field are of {system}{others}.");
    table(&caption, &["Span", "Began", "Took", "p50", "p95", "Remark", "Read from"], &rows)
}

fn words(span: &Span) -> String {
    let mut words = String::new();
    let mut word = |class: &str, text: &str| {
        let _ = write!(words, "<span class=\"word {class}\">{text}</span> ");
    };
    match span.status {
        Status::Unfinished => word("failed", "never ended"),
        Status::Failed => word("failed", "failed"),
        Status::Done | Status::Instant => {}
    }
    match span.comparison.map(|one| (one.pace, one.figures.is_some())) {
        Some((Pace::VerySlow, _)) => word("slow", "above p99"),
        Some((Pace::Slow, true)) => word("slow", "above p95"),
        Some((Pace::Slow, false)) => word("slow", "above the limit"),
        _ => {}
    }
    if !span.message.is_empty() {
        let _ = write!(words, "<small>{}</small>", escape(&span.message));
    }
    words
}

pub(crate) fn told_by(source: Source) -> &'static str {
    match source {
        Source::Event => "event",
        Source::Trace => "trace",
        Source::Report => "report",
        Source::AgentLog => "agent's log",
        Source::CloudInit => "cloud-init's log",
        Source::Handler => "handler's log",
        Source::Concluded => "concluded",
    }
}

fn gaps_table(timeline: &Timeline) -> String {
    let rows: Vec<Vec<Cell>> = timeline
        .gaps
        .iter()
        .map(|gap| {
            let from = timeline.extent.map_or(0.0, |extent| extent.seconds_to(gap.start));
            vec![
                Cell::Number(span_of_time(gap.seconds())),
                Cell::Number(format!("+{}", span_of_time(from))),
                Cell::Code(gap.after.clone()),
                Cell::Code(gap.before.clone()),
            ]
        })
        .collect();
    table(
        "Stretches of two seconds and more of which no file tells.",
        &["Length", "From", "After", "Before"],
        &rows,
    )
}
