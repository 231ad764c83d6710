//! `--watch`: a terminal is redrawn in place, a pipe gets changed rows, `-o json` one document per line.

use std::collections::BTreeMap;
use std::io::{ErrorKind, IsTerminal as _, Read as _, Write as _};
use std::time::Duration;

use jiff::Timestamp;
use mooring_terminal::{Screen, Style, width};
use mooring_workflow::screens::{duration, time_of_day};
use mooring_workflow::status::RunStatus;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::progress::write;
use crate::failure::Failure;
use crate::output;

const INTERVAL: Duration = Duration::from_secs(2);

/// One reading of all runs.
pub(crate) struct Frame {
    pub(crate) screen: Screen,
    /// The document as one line.
    pub(crate) line: String,
    pub(crate) runs: Vec<RunStatus>,
}

/// The screen of a run, without times that change at every reading.
type State = (String, &'static str, Option<usize>, usize, Option<String>);

fn state(run: &RunStatus) -> State {
    let step = run.step.as_ref().map(|step| step.number);
    (run.run_id.clone(), run.state, step, run.effects.len(), run.stopped.clone())
}

/// Result of a watch that a user ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The user pressed `q`, or the reader closed the pipe.
    Quit,
    /// Ctrl-C or SIGTERM.
    Interrupted,
}

/// Shows the runs until the user ends it. `row` returns the row of a run for a pipe.
pub(crate) async fn watch(
    mut read: impl AsyncFnMut() -> Result<Frame, String>,
    row: impl Fn(&RunStatus, bool) -> Screen,
    is_json: bool,
) -> Result<Ended, Failure> {
    let is_dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
    let is_live = std::io::stdout().is_terminal() && !is_json && !is_dumb;
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut terms = signal(SignalKind::terminate())?;
    let _raw = RawInput::new();
    let mut keys = keys();
    let form = match (is_live, is_json) {
        (true, _) => Form::Terminal,
        (false, true) => Form::Documents,
        (false, false) => Form::Rows,
    };
    let mut view = View { form, ..View::default() };
    loop {
        let reading = async {
            match read().await {
                Ok(frame) => view.show(&frame, &row)?,
                Err(why) => view.report(&why),
            }
            tokio::time::sleep(INTERVAL).await;
            Ok::<(), std::io::Error>(())
        };
        tokio::select! {
            done = reading => match done {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Ended::Quit),
                done => done?,
            },
            _ = interrupts.recv() => return Ok(Ended::Interrupted),
            _ = terms.recv() => return Ok(Ended::Interrupted),
            Some(()) = keys.recv() => return Ok(Ended::Quit),
        }
    }
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
    /// Lines on the terminal that the next screen replaces.
    lines: usize,
    printed: BTreeMap<String, State>,
    is_begun: bool,
    has_heads: bool,
    failing: Option<Timestamp>,
}

impl View {
    fn show(
        &mut self,
        frame: &Frame,
        row: &impl Fn(&RunStatus, bool) -> Screen,
    ) -> std::io::Result<()> {
        if let Some(since) = self.failing.take() {
            let age = Timestamp::now().duration_since(since).as_secs();
            self.note(&format!("The journal can be read again, after {}.", duration(age)));
        }
        if self.form == Form::Terminal {
            let style = output::style();
            let text = frame.screen.render(&style);
            print(&format!("{}{text}", erase(self.lines)))?;
            self.lines = rows(&text, &style);
            return Ok(());
        }
        let current: BTreeMap<String, State> =
            frame.runs.iter().map(|run| (run.subject.name().to_owned(), state(run))).collect();
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        if self.form == Form::Documents {
            if is_first || current != self.printed {
                print(&frame.line)?;
            }
        } else if is_first && frame.runs.is_empty() {
            print(&frame.screen.render(&output::style()))?;
        } else {
            for run in &frame.runs {
                if self.printed.get(run.subject.name()) == Some(&state(run)) {
                    continue;
                }
                let with_heads = !std::mem::replace(&mut self.has_heads, true);
                print(&row(run, with_heads).render(&output::style()))?;
            }
        }
        self.printed = current;
        Ok(())
    }

    /// Reports a failed read once. The last state stays.
    fn report(&mut self, why: &str) {
        if self.failing.is_none() {
            let now = Timestamp::now();
            self.failing = Some(now);
            self.note(&format!(
                "warning: the journal cannot be read since {} UTC: {why}; retrying",
                time_of_day(now)
            ));
        }
    }

    /// Prints a message after the screen, which stays.
    fn note(&mut self, text: &str) {
        self.lines = 0;
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
struct RawInput(Option<Termios>);

impl RawInput {
    fn new() -> Self {
        let stdin = std::io::stdin();
        if !stdin.is_terminal() {
            return Self(None);
        }
        let Ok(before) = tcgetattr(&stdin) else { return Self(None) };
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        match tcsetattr(&stdin, OptionalActions::Now, &raw) {
            Ok(()) => Self(Some(before)),
            Err(_) => Self(None),
        }
    }
}

impl Drop for RawInput {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

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
