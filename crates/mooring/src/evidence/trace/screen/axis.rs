//! The time axis, and lines with their bars.

use jiff::Timestamp;
use mooring_terminal::{Mark, Style, Text, truncate_middle, width};
use mooring_trace::SpanStatus;
use mooring_trace::life::{LifeState, NodeLife};

use super::rows::Row;

const NAME: usize = 22;
const TOOK: usize = 7;
const USUAL: usize = 8;
/// Columns of the bars: at least, at most, and free at the end of the line.
const MIN_BAR: usize = 10;
const MAX_BAR: usize = 62;
const MARGIN: usize = 13;

/// The time axis of all rows.
pub(super) struct Axis {
    begin: Timestamp,
    seconds: f64,
    columns: usize,
    has_usual: bool,
    /// False while a node joins: its last stage is not finished yet.
    has_failed: bool,
    unicode: bool,
}

impl Axis {
    pub(super) fn of(rows: &[Row], life: &NodeLife, style: &Style) -> Option<Self> {
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

    pub(super) fn head(&self) -> Text {
        let end = short(self.seconds);
        let gap = self.columns.saturating_sub(2 + end.len()).max(1);
        let usual = if self.has_usual { format!("{:>USUAL$}", "USUAL") } else { String::new() };
        let head =
            format!("  {:<NAME$}{:>TOOK$}{usual}  0s{}{end}", "SPAN", "TOOK", " ".repeat(gap));
        Text::default().dim(head)
    }

    pub(super) fn line(&self, row: &Row) -> Text {
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
pub(super) fn short(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "durations of a node are small")]
    let whole = seconds.round() as i64;
    match whole {
        ..10 => format!("{seconds:.1}s").replace(".0s", "s"),
        10..60 => format!("{whole}s"),
        60..3600 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ => format!("{}h{:02}m", whole / 3600, whole / 60 % 60),
    }
}
