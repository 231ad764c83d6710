//! Progress of a run on stderr: one changing line on a terminal, one line per change elsewhere.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use mooring_redact::{printable, printable_lines};

pub(crate) struct Progress {
    terminal: bool,
    last: String,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), last: String::new() }
    }

    /// Prints the progress of a step. On a terminal it includes `elapsed`, and the next line overwrites a wait.
    pub(crate) fn show(&mut self, step: &str, elapsed: &str, what: &str, waits: bool) {
        let change = format!("{step}: {what}");
        if self.terminal {
            let line = printable(&format!("{step}{elapsed}: {what}"));
            let line: String = line.chars().take(160).collect();
            write_raw(&format!("\r\x1b[K{line}"));
            if !waits {
                write("\n");
            }
        } else if change != self.last {
            write(&format!("{}\n", printable(&change)));
        }
        self.last = change;
    }

    pub(crate) fn end(&self) {
        if self.terminal && !self.last.is_empty() {
            write("\n");
        }
    }
}

/// Interval of the messages while a read takes long.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Awaits reads that are usually quick, and reports while they are not, for example while Azure throttles.
pub(crate) async fn with_progress<T>(work: impl Future<Output = T>) -> T {
    let mut work = Box::pin(work);
    let mut waited = Duration::ZERO;
    loop {
        match tokio::time::timeout(PROGRESS_INTERVAL, &mut work).await {
            Ok(done) => return done,
            Err(_) => waited += PROGRESS_INTERVAL,
        }
        write(&format!("Still reading from Azure and Kubernetes ({}s)\n", waited.as_secs()));
    }
}

/// Returns a function that prints the first text it receives.
pub(crate) fn print_once() -> impl FnMut(&str) {
    let mut printed = false;
    move |text| {
        if !std::mem::replace(&mut printed, true) {
            write(&format!("{text}\n"));
        }
    }
}

/// Writes to stderr, without terminal control characters.
pub(crate) fn write(text: &str) {
    write_raw(&printable_lines(text));
}

/// Writes to stderr. A closed stderr does not stop a run.
fn write_raw(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
