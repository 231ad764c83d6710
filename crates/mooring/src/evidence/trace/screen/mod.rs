//! The screen of a node's life: a verdict, and its stages over time.

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use mooring_terminal::{Mark, Screen, Style, Text, truncate_middle, width};
use mooring_trace::life::{self, LifeState, NodeLife};
use mooring_trace::{Span, SpanKind, SpanSource, SpanStatus, Timeline};

/// Steps below the bootstrap without `-o wide`; the unfinished and the longest are shown.
const MAX_STEPS: usize = 12;

/// Returns the screen of one node. `now` is the time of the read; none for an archive.
pub(super) fn screen(
    timeline: &Timeline,
    life: &NodeLife,
    left_out: &[String],
    now: Option<Timestamp>,
    is_wide: bool,
    style: &Style,
) -> Screen {
    let mut screen = Screen::default();
    let (mark, sentence) = verdict(timeline, life, now);
    screen.sentence(mark, sentence);
    let rows = rows(timeline, life, if is_wide { usize::MAX } else { MAX_STEPS });
    if let Some(axis) = Axis::of(&rows, life, style) {
        screen.line(axis.head());
        for row in &rows {
            screen.line(axis.line(row));
        }
    }
    if let Some(diagnosis) = &timeline.diagnosis {
        let text = format!("{}: {}", diagnosis.reason, diagnosis.summary);
        screen.label("Cause", [Text::new(text)]);
    }
    if !left_out.is_empty() {
        screen.label("Left out", left_out.iter().map(Text::new));
    }
    let detail = if timeline.spans.iter().any(|span| span.sources.contains(&SpanSource::Event)) {
        "conditions, failure record, the report in Azure, and files of the node."
    } else {
        "conditions, failure record and the report in Azure. Files of the node have every step: `--run-command` while the VM exists, or `mooring trace /` on the node."
    };
    screen.label("Detail", [Text::new(detail)]);
    screen
}

fn verdict(timeline: &Timeline, life: &NodeLife, now: Option<Timestamp>) -> (Mark, String) {
    let name = life.node_claim.as_deref().unwrap_or(&timeline.node);
    let stages = || timeline.spans.iter().filter(|span| span.kind == SpanKind::Stage);
    let begin = stages().map(|span| span.start).min();
    let until = |end: Option<Timestamp>| {
        let seconds = end.zip(begin).map(|(end, begin)| end.duration_since(begin).as_secs_f64());
        seconds.map(|seconds| short(seconds.max(0.0)))
    };
    let end = until(stages().map(|span| span.end).max());
    match life.state {
        LifeState::Failed => {
            let after = end.map_or_else(String::new, |end| format!(" after {end}"));
            let running = timeline.running.as_ref().map(|running| step_name(&running.name));
            let why = match (running, &life.cause) {
                (Some(step), _) => format!(", while {step} was running"),
                (None, Some(cause)) => format!(": {cause}"),
                (None, None) => String::new(),
            };
            (Mark::Bad, format!("{name} failed{after}{why}."))
        }
        LifeState::Joined => {
            let took = end.map_or_else(String::new, |end| format!(" in {end}"));
            (Mark::Good, format!("{name} joined{took}."))
        }
        LifeState::NotReady => {
            let joined = stages().find(|span| span.name == life::READY).map(|span| span.start);
            let after = until(joined).map_or_else(String::new, |end| format!(" after {end}"));
            (Mark::Warning, format!("{name} registered{after}, and is not ready."))
        }
        LifeState::Joining => {
            let since = until(now).map_or_else(String::new, |end| format!(" for {end}"));
            (Mark::Warning, format!("{name} is joining{since}; no failure is known."))
        }
    }
}

/// One line of the screen.
struct Row {
    name: String,
    /// Start, end and status; none for a stage that was not reached.
    span: Option<(Timestamp, Timestamp, SpanStatus)>,
    usual: Option<f64>,
}

/// Returns the stages, with at most `most` steps.
fn rows(timeline: &Timeline, life: &NodeLife, most: usize) -> Vec<Row> {
    let spans = &timeline.spans;
    let row = |span: &Span, indent: usize, name: &str| Row {
        name: format!("{}{name}", "  ".repeat(indent)),
        span: Some((span.start, span.end, span.status)),
        usual: life.usual(&span.name).filter(|_| span.kind == SpanKind::Stage),
    };
    let mut rows = Vec::new();
    let order = [
        life::LAUNCH,
        life::MACHINE,
        life::BOOT,
        life::MACHINE_AND_BOOTSTRAP,
        life::BOOTSTRAP,
        life::REGISTER,
        life::READY,
    ];
    // Stages may start at the same time.
    let find =
        |name: &str| spans.iter().find(|span| span.kind == SpanKind::Stage && span.name == name);
    for stage in order.into_iter().filter_map(find) {
        rows.push(row(stage, usize::from(stage.name == life::BOOT), &stage.name));
        if stage.name == life::BOOTSTRAP {
            rows.extend(steps(timeline, most).map(|step| row(step, 1, step_name(&step.name))));
        }
    }
    for name in [life::REGISTER, life::READY] {
        let is_known = rows.iter().any(|row| row.name == name);
        if life.state != LifeState::Joined && !is_known {
            rows.push(Row { name: name.to_owned(), span: None, usual: life.usual(name) });
            break;
        }
    }
    rows
}

/// Returns the outermost steps in order of time: unfinished ones and the longest.
fn steps(timeline: &Timeline, most: usize) -> impl Iterator<Item = &Span> {
    let spans = &timeline.spans;
    let is_outer = |span: &&Span| {
        let parent = span.parent.map(|parent| spans[parent].kind);
        span.kind == SpanKind::Step && parent != Some(SpanKind::Step)
    };
    let mut steps: Vec<&Span> = spans.iter().filter(is_outer).collect();
    steps.sort_by(|a, b| {
        let key = |span: &Span| (span.status == SpanStatus::Done, -span.seconds());
        key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1))
    });
    steps.truncate(most);
    steps.sort_by_key(|span| span.start);
    steps.into_iter()
}

/// Returns `orasLogin` for `AKS.CSE.orasLogin.oras_login_with_kubelet_identity`.
fn step_name(name: &str) -> &str {
    let name = name.strip_prefix("AKS.CSE.").unwrap_or(name);
    if name.contains(' ') { name } else { name.split('.').next().unwrap_or(name) }
}

const NAME: usize = 22;
const TOOK: usize = 7;
const USUAL: usize = 8;
/// Columns of the bars: at least, at most, and free at the end of the line.
const MIN_BAR: usize = 10;
const MAX_BAR: usize = 62;
const MARGIN: usize = 13;

/// The time axis of all rows.
struct Axis {
    begin: Timestamp,
    seconds: f64,
    columns: usize,
    has_usual: bool,
    /// False while a node joins: its last stage is not finished yet.
    has_failed: bool,
    unicode: bool,
}

impl Axis {
    fn of(rows: &[Row], life: &NodeLife, style: &Style) -> Option<Self> {
        let spans = || rows.iter().filter_map(|row| row.span);
        let begin = spans().map(|(start, ..)| start).min()?;
        let end = spans().map(|(_, end, _)| end).max()?;
        let has_usual = rows.iter().any(|row| row.usual.is_some());
        let before = 2 + NAME + TOOK + if has_usual { USUAL } else { 0 } + 2;
        let free = style.width.map_or(MAX_BAR, |width| width.saturating_sub(before + MARGIN));
        Some(Self {
            begin,
            seconds: end.duration_since(begin).as_secs_f64(),
            columns: free.clamp(MIN_BAR, MAX_BAR),
            has_usual,
            has_failed: life.state == LifeState::Failed,
            unicode: style.unicode,
        })
    }

    fn head(&self) -> Text {
        let end = short(self.seconds);
        let gap = self.columns.saturating_sub(2 + end.len()).max(1);
        let usual = if self.has_usual { format!("{:>USUAL$}", "USUAL") } else { String::new() };
        let head =
            format!("  {:<NAME$}{:>TOOK$}{usual}  0s{}{end}", "SPAN", "TOOK", " ".repeat(gap));
        Text::default().dim(head)
    }

    fn line(&self, row: &Row) -> Text {
        let is_bad = row.span.is_some_and(|(.., status)| self.is_bad(status));
        let arrow = if self.unicode { "→" } else { "->" };
        let name = truncate_middle(&row.name.replace('→', arrow), NAME);
        let name = format!("{name}{}", " ".repeat(NAME.saturating_sub(width(&name))));
        let took = match row.span {
            Some((start, end, status)) => {
                let seconds = end.duration_since(start).as_secs_f64();
                let is_unknown = status == SpanStatus::Unfinished && seconds <= 0.0;
                if is_unknown { "–".to_owned() } else { short(seconds) }
            }
            None => "–".to_owned(),
        };
        let took = format!("{}{took}", " ".repeat(TOOK.saturating_sub(width(&took))));
        let usual = match (self.has_usual, row.usual) {
            (true, Some(usual)) => format!("{:>USUAL$}", short(usual)),
            (true, None) => " ".repeat(USUAL),
            (false, _) => String::new(),
        };
        let bar = row.span.map(|span| self.bar(span)).unwrap_or_default();
        let text =
            if is_bad { Text::default().mark(Mark::Bad).plain(" ") } else { Text::new("  ") };
        let line = format!("{name}{took}{usual}");
        if bar.is_empty() {
            return text.plain(line.trim_end());
        }
        let text = text.plain(line).plain("  ");
        if is_bad { text.colored(Mark::Bad, bar) } else { text.plain(bar) }
    }

    fn is_bad(&self, status: SpanStatus) -> bool {
        status == SpanStatus::Failed || (status == SpanStatus::Unfinished && self.has_failed)
    }

    fn bar(&self, (start, end, status): (Timestamp, Timestamp, SpanStatus)) -> String {
        let cell = |at: Timestamp| {
            let part = at.duration_since(self.begin).as_secs_f64() / self.seconds.max(0.001);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "between 0 and the columns of the bars"
            )]
            let cell = (part.clamp(0.0, 1.0) * self.columns as f64).round() as usize;
            cell
        };
        let first = cell(start).min(self.columns - 1);
        let length = cell(end).saturating_sub(first).max(1);
        let is_open = matches!(status, SpanStatus::Failed | SpanStatus::Unfinished);
        let (before, filled) = match (self.unicode, is_open) {
            (true, true) => ("·", "▒"),
            (true, false) => ("·", "█"),
            (false, true) => (".", "x"),
            (false, false) => (".", "#"),
        };
        format!("{}{}", before.repeat(first), filled.repeat(length))
    }
}

/// Returns `1.2s`, `41s`, `1m14s` or `1h03m`.
fn short(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "durations of a node are small")]
    let whole = seconds.round() as i64;
    match whole {
        ..10 => format!("{seconds:.1}s").replace(".0s", "s"),
        10..60 => format!("{whole}s"),
        60..3600 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ => format!("{}h{:02}m", whole / 3600, whole / 60 % 60),
    }
}
