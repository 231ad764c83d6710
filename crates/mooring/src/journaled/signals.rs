//! The runtime, variables and signals.

use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::progress::write;
use crate::failure::Failure;

pub(crate) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

pub(crate) fn runtime() -> Result<Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// What stops a run, and how the run is told.
pub(crate) fn signals() -> (Signals, watch::Receiver<bool>) {
    let (stop, stopped) = watch::channel(false);
    (Signals { stop }, stopped)
}

/// Ctrl-C, SIGTERM, and a terminal that went away.
pub(crate) struct Signals {
    stop: watch::Sender<bool>,
}

impl Signals {
    /// Lets a run go on until it rests. The first signal asks it to stop at the next safe point; the second
    /// one leaves it as a kill would, which the journal bears as well; `left` makes an end of that.
    pub(crate) async fn during<T>(
        self,
        run: impl Future<Output = T>,
        left: impl FnOnce(String) -> T,
    ) -> T {
        let [Ok(interrupts), Ok(terms), Ok(hangups)] =
            [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal)
        else {
            return run.await;
        };
        tokio::select! {
            ending = run => ending,
            () = self.watch([interrupts, terms, hangups]) => {
                left("stopped at once by a second signal".to_owned())
            }
        }
    }

    async fn watch(&self, [mut interrupts, mut terms, mut hangups]: [Signal; 3]) {
        for again in [false, true] {
            tokio::select! {
                _ = interrupts.recv() => {}
                _ = terms.recv() => {}
                _ = hangups.recv() => {}
            }
            if again {
                return;
            }
            write("\nstopping at the next safe point; once more to stop at once\n");
            let _ = self.stop.send(true);
        }
    }
}
