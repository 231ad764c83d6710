//! Messages while a source does not respond: after one second, and then while it lasts.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use crate::output;

const FIRST: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_secs(1);
/// Interval of lines in a pipe.
const REPEAT: u64 = 30;

/// Awaits work for at most `limit`; none if it took longer. Prints what it waits for.
pub(crate) async fn wait<T>(
    what: &str,
    limit: Duration,
    then: &str,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = std::pin::pin!(work);
    let is_terminal = std::io::stderr().is_terminal();
    let mut seconds = 0;
    let mut pause = FIRST;
    loop {
        let left = limit.saturating_sub(Duration::from_secs(seconds));
        if let Ok(done) = tokio::time::timeout(pause.min(left), &mut work).await {
            clear(is_terminal, seconds);
            return Some(done);
        }
        if left <= pause {
            clear(is_terminal, seconds);
            return None;
        }
        pause = REDRAW;
        seconds += 1;
        if output::is_quiet() {
            continue;
        }
        let line = format!("{what}: {seconds}s, {then} after {}s", limit.as_secs());
        if is_terminal {
            write(&format!("\r\x1b[K{line}"));
        } else if seconds == 1 || seconds % REPEAT == 0 {
            write(&format!("{line}\n"));
        }
    }
}

fn clear(is_terminal: bool, seconds: u64) {
    if is_terminal && seconds > 0 {
        write("\r\x1b[K");
    }
}

fn write(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
