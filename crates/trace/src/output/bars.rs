//! Bars over time, as an SVG fragment for a [`crate::output::page::HtmlPage`].

use std::fmt::Write as _;

use crate::escape::{escape, tidy};

/// Rows over one time axis that starts at 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chart {
    /// Text alternative of the chart.
    pub label: String,
    pub seconds: f64,
    pub rows: Vec<BarRow>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct BarRow {
    pub label: String,
    pub indent: usize,
    pub strong: bool,
    pub bars: Vec<Bar>,
    /// Text after the last bar.
    pub note: String,
    /// Tooltip and screen reader text.
    pub tip: String,
}

/// A bar; an instant if `from` equals `to`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bar {
    pub from: f64,
    /// Seconds since the start of the axis.
    pub to: f64,
    pub tone: Tone,
    /// Outlined if it is on the critical path.
    pub outlined: bool,
}

/// Style of a bar. Each differs by more than its color, or is described in the row's note.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Calm,
    Slow,
    Failed,
    Good,
    Open,
    /// Nothing happened: dashed outline.
    Empty,
}

impl Tone {
    const fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Calm => "calm",
            Self::Slow => "slow",
            Self::Failed => "failed",
            Self::Good => "good",
            Self::Open => "open",
            Self::Empty => "empty",
        }
    }
}

/// Measures in units of the SVG.
const WIDTH: f64 = 1080.0;
const LABELS: f64 = 300.0;
const RIGHT: f64 = 1066.0;
const TOP: f64 = 24.0;
const ROW: f64 = 22.0;
const BAR: f64 = 13.0;
/// Average character widths of labels and notes, to decide where a text fits.
const LABEL_CHARACTER: f64 = 6.9;
const NOTE_CHARACTER: f64 = 6.0;
/// Further rows are omitted, with a note in the last line.
const MAX_ROWS: usize = 400;

/// Renders the chart as HTML with an inline SVG.
pub fn svg(chart: &Chart) -> String {
    let rows = &chart.rows[..chart.rows.len().min(MAX_ROWS)];
    let left_out = chart.rows.len() - rows.len();
    let seconds = if chart.seconds.is_finite() { chart.seconds.max(0.001) } else { 1.0 };
    let scale = (RIGHT - LABELS) / seconds;
    let bottom = TOP + ROW * count(rows.len());
    let height = bottom + if left_out > 0 { 22.0 } else { 6.0 };
    let mut out = format!(
        "<div class=\"chart\" role=\"group\" aria-label=\"Chart\" tabindex=\"0\"><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\n",
        escape(&chart.label)
    );
    for row in (1..rows.len()).step_by(2) {
        let y = TOP + ROW * count(row);
        let _ = writeln!(
            out,
            "<rect class=\"stripe\" x=\"0\" y=\"{y}\" width=\"{WIDTH}\" height=\"{ROW}\"/>"
        );
    }
    for tick in ticks(seconds) {
        let x = LABELS + tick * scale;
        let anchor = if x > RIGHT - 20.0 { "end" } else { "middle" };
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/><text class=\"tick\" x=\"{x:.1}\" y=\"15\" text-anchor=\"{anchor}\">{}</text>",
            escape(&span_of_time(tick))
        );
    }
    for (index, row) in rows.iter().enumerate() {
        draw(&mut out, row, TOP + ROW * count(index), scale, seconds);
    }
    if left_out > 0 {
        let _ = writeln!(
            out,
            "<text class=\"note\" x=\"6\" y=\"{:.1}\">{left_out} more rows are not drawn; the table has them.</text>",
            bottom + 15.0
        );
    }
    out.push_str("</svg></div>\n");
    out
}

fn draw(out: &mut String, row: &BarRow, top: f64, scale: f64, seconds: f64) {
    let _ = write!(out, "<g><title>{}</title>", escape(&row.tip));
    let indent = 6.0 + 14.0 * count(row.indent.min(6));
    let room = ((LABELS - 10.0 - indent) / LABEL_CHARACTER).floor();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small positive whole number"
    )]
    let label = tidy(&row.label, room.max(4.0) as usize);
    let class = if row.strong { " class=\"strong\"" } else { "" };
    let _ = write!(
        out,
        "<text{class} x=\"{indent}\" y=\"{:.1}\">{}</text>",
        top + 15.5,
        escape(&label)
    );
    let mut end = LABELS;
    for bar in &row.bars {
        let inside = |at: f64| if at.is_finite() { at.clamp(0.0, seconds) } else { 0.0 };
        let (from, to) = (LABELS + inside(bar.from) * scale, LABELS + inside(bar.to) * scale);
        let class = bar.tone.class();
        let chain = if bar.outlined { " chain" } else { "" };
        let y = top + (ROW - BAR) / 2.0;
        if bar.from >= bar.to {
            let (middle, half) = (y + BAR / 2.0, 5.0);
            let _ = write!(
                out,
                "<path class=\"bar {class}{chain}\" d=\"M{from:.1} {:.1}l{half} {half}l-{half} {half}l-{half} -{half}z\"/>",
                middle - half
            );
            end = end.max(from + half);
        } else {
            // Thinner bars are invisible.
            let width = (to - from).max(1.6);
            let _ = write!(
                out,
                "<rect class=\"bar {class}{chain}\" x=\"{from:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR}\" rx=\"1.5\"/>"
            );
            end = end.max(from + width);
        }
    }
    if !row.note.is_empty() {
        let width = count(row.note.chars().count()) * NOTE_CHARACTER;
        let first = row.bars.first().map_or(0.0, |bar| bar.from.max(0.0)) * scale + LABELS;
        let fits_behind = end + 6.0 + width < WIDTH;
        let (x, anchor) = if fits_behind || first - width < LABELS {
            ((end + 6.0).min(WIDTH - 4.0 - width.min(WIDTH - LABELS)), "start")
        } else {
            (first - 6.0, "end")
        };
        // No text color is readable on every color of a bar.
        if anchor == "start" && x < end {
            let _ = write!(
                out,
                "<rect class=\"note-ground\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"1.5\"/>",
                x - 4.0,
                top + 2.0,
                (width + 8.0).min(WIDTH - x + 4.0),
                ROW - 4.0
            );
        }
        let _ = write!(
            out,
            "<text class=\"note\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            top + 15.0,
            escape(&row.note)
        );
    }
    out.push_str("</g>\n");
}

#[expect(clippy::cast_precision_loss, reason = "rows and characters are few")]
fn count(number: usize) -> f64 {
    number as f64
}

/// At most nine ticks, at round numbers.
fn ticks(seconds: f64) -> impl Iterator<Item = f64> {
    const STEPS: [f64; 24] = [
        0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0,
        60.0, 120.0, 300.0, 600.0, 1200.0, 3600.0, 7200.0, 21_600.0, 86_400.0,
    ];
    let step = STEPS.into_iter().find(|step| seconds / step <= 8.0).unwrap_or(seconds / 8.0);
    (0..=8_u8)
        .map(move |number| f64::from(number) * step)
        .filter(move |tick| *tick <= seconds * 1.0001)
}

/// `850 ms`, `3.3 s`, `47 s`, `2 min 5 s`, `1 h 3 min`.
pub fn span_of_time(seconds: f64) -> String {
    let rounded = |unit: f64| (seconds / unit).round();
    if !seconds.is_finite() || seconds <= 0.0 {
        "0 s".to_owned()
    } else if rounded(0.001) < 1000.0 {
        format!("{} ms", rounded(0.001))
    } else if seconds < 9.95 {
        format!("{seconds:.1} s").replace(".0 ", " ")
    } else if rounded(1.0) < 60.0 {
        format!("{} s", rounded(1.0))
    } else if rounded(1.0) < 3600.0 {
        two(rounded(1.0), 60.0, "min", "s")
    } else {
        two(rounded(60.0), 60.0, "h", "min")
    }
}

fn two(total: f64, of: f64, large: &str, small: &str) -> String {
    let (whole, rest) = ((total / of).floor(), total % of);
    if rest == 0.0 { format!("{whole} {large}") } else { format!("{whole} {large} {rest} {small}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_use_the_largest_two_units() {
        for (seconds, expected) in [
            (0.0, "0 s"),
            (0.85, "850 ms"),
            (0.9999, "1 s"),
            (3.27, "3.3 s"),
            (9.95, "10 s"),
            (46.6, "47 s"),
            (59.9, "1 min"),
            (125.0, "2 min 5 s"),
            (3600.0, "1 h"),
            (3780.0, "1 h 3 min"),
            (f64::NAN, "0 s"),
        ] {
            assert_eq!(span_of_time(seconds), expected);
        }
    }

    #[test]
    fn an_axis_has_few_round_ticks() {
        assert_eq!(ticks(47.0).collect::<Vec<_>>(), [0.0, 10.0, 20.0, 30.0, 40.0]);
        for seconds in [0.001, 0.3, 7.0, 60.0, 900.0, 1e5, 1e9] {
            assert!((2..=9).contains(&ticks(seconds).count()), "{seconds}");
        }
        assert_eq!(ticks(1e9).nth(1), Some(1.25e8));
    }

    /// A chart of 766 seconds has one unit per second, and a note of 50 characters is 300 units wide.
    #[test]
    fn note_is_after_its_bar_before_it_or_on_a_ground() {
        let drawn = |from, to| {
            let bars = vec![Bar { from, to, ..Bar::default() }];
            let row = BarRow { bars, note: "x".repeat(50), ..BarRow::default() };
            svg(&Chart { label: String::new(), seconds: 766.0, rows: vec![row] })
        };
        let is_at = |svg: &str, x: f64, anchor: &str| {
            svg.contains(&format!(
                "<text class=\"note\" x=\"{x:.1}\" y=\"39.0\" text-anchor=\"{anchor}\">"
            ))
        };
        let fits = drawn(300.0, 473.0);
        assert!(is_at(&fits, 776.0, "start"), "{fits}");
        let barely_fits_before = drawn(300.0, 474.0);
        assert!(is_at(&barely_fits_before, 594.0, "end"), "{barely_fits_before}");
        let fits_nowhere = drawn(200.0, 476.0);
        assert!(is_at(&fits_nowhere, 776.0, "start"), "{fits_nowhere}");
        assert!(!fits_nowhere.contains("note-ground"), "it starts at the end of the bar");
        let over_the_bar = drawn(200.0, 477.0);
        assert!(over_the_bar.contains("note-ground"), "{over_the_bar}");
    }

    #[test]
    fn any_numbers_and_names_are_drawn_inside_the_chart() {
        let bar = |from, to| Bar { from, to, ..Bar::default() };
        let bars = vec![bar(-5.0, 1e12), bar(f64::NAN, f64::INFINITY), bar(3.0, 2.0)];
        let row = BarRow {
            label: "</svg><b>".repeat(90),
            bars,
            note: "x".repeat(300),
            ..BarRow::default()
        };
        let drawn =
            svg(&Chart { label: "\"".to_owned(), seconds: f64::INFINITY, rows: vec![row; 500] });
        assert!(!drawn.contains("<b>") && !drawn.contains("NaN") && !drawn.contains("inf\""));
        assert!(drawn.contains("100 more rows"));
    }
}
