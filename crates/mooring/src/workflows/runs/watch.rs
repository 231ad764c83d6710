//! `--watch` of `status`: a terminal is redrawn in place, a pipe gets changed rows, `-o json` one document per line.

use std::collections::BTreeMap;
use std::io::{ErrorKind, IsTerminal as _, Read as _, Write as _};
use std::time::Duration;

use jiff::Timestamp;
use mooring_terminal::{Screen, Style, width};
use mooring_workflow::screens::{duration, run_row, time_of_day};
use mooring_workflow::status::RunStatus;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::write;
use crate::output::failure::CommandFailure;
use crate::output::{self, AnswerFormat};

/// One reading.
pub(crate) struct Frame {
    pub(crate) screen: Screen,
    /// The document as one line.
    pub(crate) line: String,
    pub(crate) rows: Vec<WatchRow>,
}

/// A row for a pipe.
pub(crate) struct WatchRow {
    pub(crate) key: String,
    /// What it shows, without times that change at every reading.
    pub(crate) state: String,
    pub(crate) plain: Screen,
    /// The row with the heads of its table, which are printed once; none for a sentence.
    pub(crate) with_heads: Option<Screen>,
}

/// What is read, and how often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched {
    pub(crate) name: &'static str,
    pub(crate) interval: Duration,
}

const JOURNAL: Watched = Watched { name: "the journal", interval: Duration::from_secs(2) };

/// Returns true for JSON; fails for a format that `--watch` does not have.
pub(crate) fn ensure_watchable(format: AnswerFormat) -> Result<bool, CommandFailure> {
    match format {
        AnswerFormat::Table | AnswerFormat::Wide => Ok(false),
        AnswerFormat::Json => Ok(true),
        AnswerFormat::Yaml | AnswerFormat::Markdown | AnswerFormat::Name => {
            Err(CommandFailure::usage(
                "--watch has no such format\nhint: use `-o table`, `wide` or `json`".to_owned(),
            ))
        }
    }
}

/// Shows frames until the user ends it. Returns the exit code: 1 if something is wrong in the last one, unless `exit_zero`
/// is set; 130 for Ctrl-C and SIGTERM.
pub(crate) async fn watch(
    mut read: impl AsyncFnMut() -> Result<(Frame, bool), String>,
    watched: Watched,
    is_json: bool,
    exit_zero: bool,
) -> Result<u8, CommandFailure> {
    let is_live = output::is_live(&std::io::stdout()) && !is_json;
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut terms = signal(SignalKind::terminate())?;
    let _raw = RawInput::new();
    let mut keys = keys();
    let form = match (is_live, is_json) {
        (true, _) => Form::Terminal,
        (false, true) => Form::Documents,
        (false, false) => Form::Rows,
    };
    let mut view = View { form, name: watched.name, ..View::default() };
    let mut is_wrong = false;
    loop {
        let reading = async {
            match read().await {
                Ok((frame, is_wrong_now)) => {
                    is_wrong = is_wrong_now;
                    view.show(&frame)?;
                }
                Err(why) => view.report(&why),
            }
            tokio::time::sleep(watched.interval).await;
            Ok::<(), std::io::Error>(())
        };
        tokio::select! {
            done = reading => match done {
                // The reader of the pipe ended it.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
                done => done?,
            },
            _ = interrupts.recv() => return Ok(130),
            _ = terms.recv() => return Ok(130),
            Some(()) = keys.recv() => break,
        }
    }
    Ok(u8::from(is_wrong && !exit_zero))
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Form {
    /// Redrawn in place.
    Terminal,
    #[default]
    Rows,
    Documents,
}

#[derive(Default)]
struct View {
    form: Form,
    name: &'static str,
    /// Text on the terminal that the next screen replaces.
    shown: String,
    printed: BTreeMap<String, String>,
    is_begun: bool,
    has_heads: bool,
    failing: Option<Timestamp>,
}

impl View {
    fn show(&mut self, frame: &Frame) -> std::io::Result<()> {
        if let Some(since) = self.failing.take() {
            let age = Timestamp::now().duration_since(since).as_secs();
            self.note(&format!("{} can be read again, after {}.", self.name, duration(age)));
        }
        print(&self.next(frame, &output::style()))
    }

    /// Returns what a reading adds to stdout.
    fn next(&mut self, frame: &Frame, style: &Style) -> String {
        if self.form == Form::Terminal {
            let text = frame.screen.render(style);
            // A terminal that became narrower has wrapped the last screen again.
            let shown = format!("{}{text}", erase(rows(&self.shown, style)));
            self.shown = text;
            return shown;
        }
        let mut text = String::new();
        let current: BTreeMap<String, String> =
            frame.rows.iter().map(|row| (row.key.clone(), row.state.clone())).collect();
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        if self.form == Form::Documents {
            if is_first || current != self.printed {
                text.push_str(&frame.line);
            }
        } else if is_first && frame.rows.is_empty() {
            text.push_str(&frame.screen.render(style));
        } else {
            for row in &frame.rows {
                if self.printed.get(&row.key) == Some(&row.state) {
                    continue;
                }
                let with_heads = row.with_heads.as_ref().filter(|_| !self.has_heads);
                self.has_heads |= with_heads.is_some();
                let screen = with_heads.unwrap_or(&row.plain);
                text.push_str(&screen.render(style));
            }
        }
        self.printed = current;
        text
    }

    /// Reports a failed read once. The last state stays.
    fn report(&mut self, why: &str) {
        if self.failing.is_none() {
            let now = Timestamp::now();
            self.failing = Some(now);
            self.note(&format!(
                "warning: {} cannot be read since {} UTC: {why}; retrying",
                self.name,
                time_of_day(now)
            ));
        }
    }

    /// Prints a message after the screen, which stays.
    fn note(&mut self, text: &str) {
        self.shown.clear();
        write(&format!("{text}\n"));
    }
}

fn print(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// Moves to the first of the last `lines` lines, and clears the rest of the terminal.
fn erase(lines: usize) -> String {
    if lines == 0 { String::new() } else { format!("\x1b[{lines}A\r\x1b[J") }
}

/// Returns the lines that a text takes on a terminal, which wraps those that are too long.
fn rows(text: &str, style: &Style) -> usize {
    let columns = style.width.unwrap_or(usize::MAX).max(1);
    text.lines().map(|line| width(&visible(line)).div_ceil(columns).max(1)).sum()
}

/// Removes escape sequences.
fn visible(line: &str) -> String {
    let mut text = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\x1b' if characters.as_str().starts_with(']') => {
                // OSC 8 ends with ESC and a backslash.
                while characters.next().is_some_and(|next| next != '\\') {}
            }
            '\x1b' => while characters.next().is_some_and(|next| !next.is_ascii_alphabetic()) {},
            other => text.push(other),
        }
    }
    text
}

/// Keys without Enter and echo, until it is dropped. Ctrl-C stays a signal.
struct RawInput(Termios);

impl RawInput {
    /// Returns none if stdin is not a terminal.
    fn new() -> Option<Self> {
        let stdin = std::io::stdin();
        let before = tcgetattr(&stdin).ok()?;
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(&stdin, OptionalActions::Now, &raw).ok()?;
        Some(Self(before))
    }
}

impl Drop for RawInput {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Receives a message for each `q`. The thread ends with the process.
fn keys() -> mpsc::Receiver<()> {
    let (sender, receiver) = mpsc::channel(1);
    if std::io::stdin().is_terminal() {
        std::thread::spawn(move || {
            for key in std::io::stdin().lock().bytes() {
                match key {
                    Ok(b'q' | b'Q') if sender.blocking_send(()).is_err() => return,
                    Ok(_) => {}
                    Err(_) => return,
                }
            }
        });
    }
    receiver
}

/// Returns true if a run stopped, or objects remain.
pub(crate) fn is_wrong(runs: &[RunStatus]) -> bool {
    runs.iter().any(|run| run.is_stopped() || run.state == "partially-removed")
}

/// One reading of journals.
pub(crate) struct RunsReading {
    pub(crate) runs: Vec<RunStatus>,
    pub(crate) screen: Screen,
    /// The document as one line.
    pub(crate) line: String,
}

/// Follows runs until the user ends it. Returns the exit code.
pub(crate) async fn watch_runs(
    format: AnswerFormat,
    exit_zero: bool,
    mut read: impl AsyncFnMut() -> Result<RunsReading, CommandFailure>,
) -> Result<u8, CommandFailure> {
    let is_json = ensure_watchable(format)?;
    let is_wide = format == AnswerFormat::Wide;
    let frame = async || {
        let reading = read().await.map_err(|failure| failure.text())?;
        let RunsReading { runs, screen, line } = reading;
        let rows = runs.iter().map(|run| row(run, is_wide)).collect();
        Ok((Frame { screen, line, rows }, is_wrong(&runs)))
    };
    watch(frame, JOURNAL, is_json, exit_zero).await
}

fn row(run: &RunStatus, is_wide: bool) -> WatchRow {
    let step = run.step.as_ref().map(|step| step.number);
    let (effects, stopped) = (run.effects.len(), &run.stopped);
    let screen = |has_heads| run_row(run, Timestamp::now(), is_wide, has_heads);
    WatchRow {
        key: run.subject.name().to_owned(),
        state: format!("{} {} {step:?} {effects} {stopped:?}", run.run_id, run.state),
        plain: screen(false),
        with_heads: Some(screen(true)),
    }
}

#[cfg(test)]
mod tests {
    use mooring_terminal::Text;

    use super::*;

    fn screen(line: &str) -> Screen {
        let mut screen = Screen::default();
        screen.line(Text::new(line));
        screen
    }

    /// A frame with the states of its rows.
    fn frame(rows: &[(&str, &str)]) -> Frame {
        let row = |(key, state): &(&str, &str)| WatchRow {
            key: (*key).to_owned(),
            state: (*state).to_owned(),
            plain: screen(&format!("{key} {state}")),
            with_heads: Some(screen(&format!("HEADS\n{key} {state}"))),
        };
        let rows: Vec<WatchRow> = rows.iter().map(row).collect();
        Frame { screen: screen("nothing\nmore"), line: "{}\n".to_owned(), rows }
    }

    fn view(form: Form) -> impl FnMut(&[(&str, &str)]) -> String {
        let mut view = View { form, ..View::default() };
        move |rows| view.next(&frame(rows), &Style::PIPE).replace('\n', "|")
    }

    #[test]
    fn pipe_has_heads_once_and_then_rows_that_changed() {
        let mut shown = view(Form::Rows);
        assert_eq!(shown(&[("a", "1"), ("b", "1")]), "HEADS a 1|b 1|");
        assert_eq!(shown(&[("a", "1"), ("b", "1")]), "");
        assert_eq!(shown(&[("a", "1"), ("b", "2"), ("c", "1")]), "b 2|c 1|");
        assert_eq!(shown(&[]), "");
        assert_eq!(shown(&[("a", "1")]), "a 1|", "it is new again");
        let mut empty = view(Form::Rows);
        assert_eq!(empty(&[]), "nothing more|");
        assert_eq!(empty(&[]), "");
        assert_eq!(empty(&[("a", "1")]), "HEADS a 1|");
    }

    #[test]
    fn documents_are_printed_if_a_row_changed() {
        let mut shown = view(Form::Documents);
        assert_eq!(shown(&[]), "{}|");
        assert_eq!(shown(&[]), "");
        assert_eq!(shown(&[("a", "1")]), "{}|");
        assert_eq!(shown(&[("a", "1")]), "");
        assert_eq!(shown(&[("a", "2")]), "{}|");
    }

    #[test]
    fn terminal_is_redrawn_from_the_last_screen() {
        let mut view = View { form: Form::Terminal, name: "it", ..View::default() };
        let shown = |view: &mut View| view.next(&frame(&[]), &Style::PIPE);
        let first = shown(&mut view);
        assert!(!first.contains('\x1b'), "{first:?}");
        assert_eq!(shown(&mut view), format!("{}{first}", erase(1)));
        // A message stays, and the next screen follows it.
        view.report("x");
        let since = view.failing;
        assert!(since.is_some() && view.shown.is_empty());
        view.report("y");
        assert_eq!(view.failing, since, "it is reported once");
        assert_eq!(shown(&mut view), first);
    }

    #[test]
    fn wrapped_and_colored_lines_count_as_the_terminal_shows_them() {
        let style = Style { width: Some(10), ..Style::PIPE };
        assert_eq!(rows("a\n\n0123456789\n0123456789a\n", &style), 5);
        assert_eq!(rows("\x1b[31m0123456789\x1b[0m\n", &style), 1);
        assert_eq!(visible("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\ \x1b[1mb\x1b[0m"), "link b");
        assert_eq!(rows(&"x".repeat(200), &Style::PIPE), 1);
    }

    #[test]
    fn screen_is_erased_from_its_first_line() {
        assert_eq!(erase(0), "");
        assert_eq!(erase(3), "\x1b[3A\r\x1b[J");
    }
}
