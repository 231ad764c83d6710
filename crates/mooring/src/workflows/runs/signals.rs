//! Signals that stop a run.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::messages::write;

/// Ctrl-C, SIGTERM and SIGHUP.
pub(crate) struct Signals {
    stop: watch::Sender<bool>,
}

impl Signals {
    pub(crate) fn channel() -> (Self, watch::Receiver<bool>) {
        let (stop, stopped) = watch::channel(false);
        (Self { stop }, stopped)
    }

    /// Awaits a run. The first signal requests a stop at the next safe point. The second drops the run at once, which is
    /// as safe as a kill because of the journal, and returns the result of `stopped`.
    pub(crate) async fn run<T>(
        self,
        run: impl Future<Output = T>,
        stopped: impl FnOnce(String) -> T,
    ) -> T {
        let [Ok(interrupts), Ok(terms), Ok(hangups)] =
            [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal)
        else {
            return run.await;
        };
        tokio::select! {
            result = run => result,
            () = self.watch([interrupts, terms, hangups]) => {
                stopped("stopped at once by a second signal".to_owned())
            }
        }
    }

    async fn watch(&self, [mut interrupts, mut terms, mut hangups]: [Signal; 3]) {
        for is_second in [false, true] {
            tokio::select! {
                _ = interrupts.recv() => {}
                _ = terms.recv() => {}
                _ = hangups.recv() => {}
            }
            if is_second {
                return;
            }
            write("\nStopping at the next safe point. Press Ctrl-C again to stop now.\n");
            let _ = self.stop.send(true);
        }
    }
}
