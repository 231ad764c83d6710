//! Messages while a source does not respond: the first within a second, and then while it lasts.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use mooring_terminal::truncate_middle;
use tokio::time::Instant;

use crate::output;

/// Time without a message. Less than a second, because the program has to start as well.
const FIRST: Duration = Duration::from_millis(800);
const INTERVAL: Duration = Duration::from_secs(1);
/// Interval of lines in a pipe.
const REPEAT: u64 = 30;

/// Awaits work for at most `limit`; none if it took longer. Prints what it waits for.
pub(crate) async fn wait<T>(
    what: &str,
    limit: Duration,
    then: &str,
    work: impl Future<Output = T>,
) -> Option<T> {
    // The rest of a limit has fractions of a second.
    let end = format!(", {then} after {}s", limit.as_millis().div_ceil(1000));
    tokio::time::timeout(limit, with_messages(&|| what.to_owned(), &end, work)).await.ok()
}

/// Awaits work that has its own limits. Prints what it waits for; `end` is the end of that message.
pub(crate) async fn wait_for<T>(what: &str, end: &str, work: impl Future<Output = T>) -> T {
    // Futures of workflows are large.
    with_messages(&|| what.to_owned(), end, Box::pin(work)).await
}

/// Awaits work that waits for one thing after another. A new one is printed at once.
pub(crate) async fn wait_for_each<T>(
    what: &dyn Fn() -> String,
    work: impl Future<Output = T>,
) -> T {
    with_messages(what, "", Box::pin(work)).await
}

async fn with_messages<T>(
    what: &dyn Fn() -> String,
    end: &str,
    work: impl Future<Output = T>,
) -> T {
    let mut work = std::pin::pin!(work);
    let mut message = Message::default();
    let start = Instant::now();
    if let Ok(done) = tokio::time::timeout(FIRST, &mut work).await {
        return done;
    }
    let mut last = what();
    message.show(&format!("{last}{end}"), true);
    let mut ticks = tokio::time::interval_at(start + INTERVAL, INTERVAL);
    for seconds in 1_u64.. {
        tokio::select! {
            biased;
            done = &mut work => return done,
            _ = ticks.tick() => {
                let current = what();
                let is_new = std::mem::replace(&mut last, current) != last;
                let line = format!("{last}: {seconds}s{end}");
                message.show(&line, is_new || seconds.is_multiple_of(REPEAT));
            }
        }
    }
    work.await
}

/// A line that is redrawn on a terminal, and erased at the end.
#[derive(Default)]
struct Message {
    is_open: bool,
}

impl Message {
    /// Shows a line; a pipe gets only some.
    fn show(&mut self, line: &str, for_pipe: bool) {
        if output::is_quiet() {
            return;
        }
        let is_dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
        if std::io::stderr().is_terminal() && !is_dumb {
            self.is_open = true;
            // A line that fills the terminal would wrap, and only its last part would be erased.
            let columns = output::message_style().width.unwrap_or(usize::MAX).saturating_sub(1);
            write(&format!("\r\x1b[K{}", truncate_middle(line, columns)));
        } else if for_pipe {
            write(&format!("{line}\n"));
        }
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        if self.is_open {
            write("\r\x1b[K");
        }
    }
}

fn write(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
