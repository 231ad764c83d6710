//! Progress of a run on stderr: the current step is redrawn on a terminal, and has one line per change elsewhere.

use jiff::Timestamp;
use mooring_redact::printable;
use mooring_terminal::{Mark, Screen, Text, truncate_middle, width};
use mooring_workflow::number;
use mooring_workflow::screens::clock;
use mooring_workflow::{Decision, Phase, Run, Workflow};

use super::arguments::ReadLimit;
use super::{write, write_raw};
use crate::cluster::wait_for;
use crate::output;

/// Content of a line of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgressEvent {
    Done,
    /// A change was requested.
    Change,
    Wait,
    Stop,
}

/// A line of progress.
struct ProgressLine<'a> {
    /// `4/16`; empty for a rollback.
    position: String,
    step: &'a str,
    event: ProgressEvent,
    seconds: i64,
    expected_seconds: Option<u32>,
    text: &'a str,
}

impl ProgressLine<'_> {
    fn head(&self) -> String {
        format!("{:>5}  {:<17}  ", self.position, printable(self.step))
    }

    fn tail(&self) -> String {
        format!("  {:>5}  {}", clock(self.seconds), printable(self.text))
    }

    /// Returns the column of the text.
    fn indent(&self) -> usize {
        width(&self.head()) + "✓   0:00  ".chars().count()
    }

    fn mark(&self) -> Text {
        match self.event {
            ProgressEvent::Done => Text::default().mark(Mark::Good),
            ProgressEvent::Stop => Text::default().mark(Mark::Warning),
            ProgressEvent::Change | ProgressEvent::Wait => Text::default().dim("…"),
        }
    }
}

pub(crate) struct ProgressOutput {
    /// The current step is redrawn.
    is_live: bool,
    is_open: bool,
    last: String,
}

impl ProgressOutput {
    pub(crate) fn new() -> Self {
        let is_live = output::is_live(&std::io::stderr());
        Self { is_live, is_open: false, last: String::new() }
    }

    fn show(&mut self, line: &ProgressLine<'_>) {
        if output::is_quiet() {
            return;
        }
        let style = output::message_style();
        let is_current = matches!(line.event, ProgressEvent::Change | ProgressEvent::Wait);
        let mut text = Text::new(line.head());
        text.append(line.mark());
        if self.is_live && is_current {
            let usual = line.expected_seconds.map(|usual| format!(", usually {}", clock(usual)));
            let tail = line.tail() + &usual.unwrap_or_default();
            let free = style
                .width
                .map_or(usize::MAX, |columns| columns.saturating_sub(width(&line.head()) + 4));
            let text = text.plain(truncate_middle(&tail, free));
            write_raw(&format!("\r\x1b[K{}", render(text, line.indent(), &style)));
            self.is_open = true;
            return;
        }
        let change = format!("{} {} {:?} {}", line.position, line.step, line.event, line.text);
        if change == self.last {
            return;
        }
        self.last = change;
        let erase = if self.is_open { "\r\x1b[K" } else { "" };
        self.is_open = false;
        let text = text.plain(line.tail());
        write_raw(&format!("{erase}{}\n", render(text, line.indent(), &style)));
    }

    /// Shows a decision of a run. `no_step` describes a run that is at no step.
    pub(crate) fn show_decision<W: Workflow>(
        &mut self,
        run: &Run<W>,
        decision: &Decision<W>,
        now: Timestamp,
        no_step: &str,
    ) {
        let (event, text) = match decision {
            Decision::Apply(effect) => (ProgressEvent::Change, W::describe(effect, None).what),
            Decision::Note(note) if note.text.is_empty() => return,
            Decision::Note(note) => (ProgressEvent::Change, note.text.clone()),
            Decision::Wait { why, .. } => (ProgressEvent::Wait, format!("waiting {why}")),
            Decision::Done(evidence) => (ProgressEvent::Done, evidence.join("; ")),
            Decision::Stop(stop) => (ProgressEvent::Stop, format!("stopping: {}", stop.message)),
            Decision::Refresh | Decision::Finish(..) => return,
        };
        let step = run.step().filter(|_| run.phase != Phase::Aborting);
        let position = step.map(|step| format!("{}/{}", number::<W>(step), W::STEPS.len()));
        self.show(&ProgressLine {
            position: position.unwrap_or_default(),
            step: step.map_or(no_step, |step| W::about(step).name),
            event,
            seconds: now.duration_since(run.step_since()).as_secs(),
            expected_seconds: step.and_then(|step| W::about(step).expected_seconds),
            text: &text,
        });
    }

    pub(crate) fn end(&mut self) {
        if std::mem::take(&mut self.is_open) {
            write("\n");
        }
    }
}

/// Renders a line; further lines of a terminal are indented.
fn render(text: Text, indent: usize, style: &mooring_terminal::Style) -> String {
    let mut screen = Screen::default();
    screen.hanging(0, indent, text);
    screen.render(style).trim_end().to_owned()
}

pub(crate) const WAITING: &str = "waiting for Azure and Kubernetes";

/// Awaits reads that are usually quick, and reports while they are not, for example while Azure throttles.
pub(crate) async fn with_progress<T>(limit: Option<ReadLimit>, work: impl Future<Output = T>) -> T {
    wait_for(WAITING, &ReadLimit::end(limit), work).await
}

#[cfg(test)]
mod tests {
    use mooring_terminal::Style;

    use super::*;

    #[test]
    fn long_line_is_wrapped_in_a_terminal_and_whole_in_a_pipe() {
        let line = ProgressLine {
            position: "3/16".to_owned(),
            step: "recheck",
            event: ProgressEvent::Done,
            seconds: 4,
            expected_seconds: None,
            text: "missing-nodes: 2 Ready, schedulable nodes (minimum 3)",
        };
        let text = || Text::new(line.head()).plain("✓").plain(line.tail());
        let terminal = Style { width: Some(60), ..Style::PIPE };
        let wrapped = render(text(), line.indent(), &terminal);
        let expected = " 3/16  recheck            ✓   0:04  missing-nodes: 2 Ready,\n                                    schedulable nodes\n                                    (minimum 3)";
        assert_eq!(wrapped, expected);
        assert_eq!(render(text(), line.indent(), &Style::PIPE).lines().count(), 1);
    }
}
