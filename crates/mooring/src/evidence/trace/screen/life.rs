//! The parts of the screen.

use jiff::Timestamp;
use mooring_terminal::{Screen, Style, Text};
use mooring_trace::life::NodeLife;
use mooring_trace::{SpanSource, Timeline};

use super::axis::Axis;
use super::rows::rows;
use super::verdict::verdict;

/// Steps below the bootstrap without `-o wide`; the unfinished and the longest are shown.
pub(super) const MAX_STEPS: usize = 12;

/// Returns the screen of one node. `now` is the time of the read; none for an archive.
pub(crate) fn screen(
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
