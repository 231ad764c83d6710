//! What a person sees while a run goes on: one line that changes on a terminal, one line per change elsewhere.

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

    /// Shows what is done at which step; on a terminal with its time, and over the line before if that was a wait.
    pub(crate) fn show(&mut self, step: &str, timed: &str, what: &str, waits: bool) {
        let change = format!("{step}: {what}");
        if self.terminal {
            let line = printable(&format!("{step}{timed}: {what}"));
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

    /// Ends the line that changes.
    pub(crate) fn end(&self) {
        if self.terminal && !self.last.is_empty() {
            write("\n");
        }
    }
}

/// After this long somebody who waits wants to know that something is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Does something that is usually quick, and says so while it is not: Azure may ask to wait, and is waited for.
pub(crate) async fn patiently<T>(work: impl Future<Output = T>) -> T {
    let mut work = Box::pin(work);
    let mut waited = Duration::ZERO;
    loop {
        match tokio::time::timeout(LOCK_WAIT, &mut work).await {
            Ok(done) => return done,
            Err(_) => waited += LOCK_WAIT,
        }
        write(&format!("still looking, for {} s\n", waited.as_secs()));
    }
}

/// Says something the first time only.
pub(crate) fn once() -> impl FnMut(&str) {
    let mut said = false;
    move |text| {
        if !std::mem::replace(&mut said, true) {
            write(&format!("{text}\n"));
        }
    }
}

/// Writes to standard error, without what steers a terminal.
pub(crate) fn write(text: &str) {
    write_raw(&printable_lines(text));
}

/// To standard error. Nobody who reads it is no reason to stop a run.
fn write_raw(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
