//! A run until it stops, with its signals, progress and exit code.

use jiff::Timestamp;
use mooring_redact::printable;
use mooring_workflow::command::CommandResult;
use mooring_workflow::live::Watcher;
use mooring_workflow::lock::Lock;
use mooring_workflow::store::NAMESPACE;
use mooring_workflow::{Finish, RunOutcome, Workflow};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::progress::ProgressOutput;
use super::write;
use crate::output::failure::CommandFailure;

/// Ctrl-C, SIGTERM and SIGHUP.
pub(crate) struct Signals {
    stop: watch::Sender<bool>,
}

impl Signals {
    pub(crate) fn channel() -> (Self, watch::Receiver<bool>) {
        let (stop, stopped) = watch::channel(false);
        (Self { stop }, stopped)
    }

    /// Drives a run and shows its progress; `no_step` describes a run that is at no step. The first signal requests a stop at
    /// the next safe point. The second drops the run at once, which is as safe as a kill because of the journal.
    pub(crate) async fn drive<W: Workflow, B>(
        &self,
        no_step: &str,
        run: impl AsyncFnOnce(Watcher<'_, W>, &mut dyn FnMut(&str)) -> CommandResult<B>,
    ) -> CommandResult<B> {
        let mut progress = ProgressOutput::new();
        let watcher: Watcher<'_, W> =
            Box::new(|run, decision, now| progress.show_decision(run, decision, now, no_step));
        let mut is_said = false;
        let mut say = |text: &str| {
            if !std::mem::replace(&mut is_said, true) {
                write(&format!("{text}\n"));
            }
        };
        // The future is large.
        let run = Box::pin(run(watcher, &mut say));
        let ending = match [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()]
            .map(signal)
        {
            [Ok(interrupts), Ok(terms), Ok(hangups)] => tokio::select! {
                ending = run => ending,
                () = self.watch([interrupts, terms, hangups]) => {
                    CommandResult::Resumable("stopped at once by a second signal".to_owned())
                }
            },
            _ => run.await,
        };
        progress.end();
        ending
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

/// Returns the exit code of a command. `status` is the command that shows a run, `next` the hint for a run that can be
/// resumed.
pub(crate) fn exit_code<B>(
    result: CommandResult<B>,
    status: &str,
    next: &str,
    blocked: impl FnOnce(&B) -> CommandFailure,
) -> Result<u8, CommandFailure> {
    let resumable = |why: String| CommandFailure::resumable(format!("{why}\nhint: {next}"));
    match result {
        CommandResult::Stopped(RunOutcome::Finished(finish)) => Ok(match finish {
            Finish::Complete | Finish::NothingToDo | Finish::Aborted => 0,
            Finish::Partial => 1,
            Finish::Refused => 4,
        }),
        CommandResult::Stopped(RunOutcome::Resumable { message, .. }) => Err(resumable(message)),
        CommandResult::Resumable(why) => Err(resumable(why)),
        CommandResult::Nothing(text) => {
            write(&format!("{text}; nothing to do\n"));
            Ok(0)
        }
        CommandResult::Refused(error) => Err(blocked(&error)),
        CommandResult::Held(lock) => {
            let hint = format!("hint: `{status}` shows its progress; after a kill, {next}");
            Err(CommandFailure::blocked(format!("{}\n{hint}", format_lock(&lock))))
        }
        CommandResult::Failed(why) => Err(CommandFailure::io(why)),
        CommandResult::NoJournal(why) => Err(CommandFailure::io(format!(
            "{why}\nhint: a run needs permissions on ConfigMaps and Leases in the namespace of its journal ({NAMESPACE} by default; `--journal configmap/NAMESPACE`)"
        ))),
    }
}

pub(crate) fn format_lock(lock: &Lock) -> String {
    let expired = if lock.looks_expired(Timestamp::now()) { ", expired" } else { "" };
    let (host, pid) = (printable(&lock.owner.host), lock.owner.pid);
    format!("locked by {host} (pid {pid}{expired}), last heartbeat {:.0}", lock.heartbeat)
}

/// Returns the result of starting a run while another is unfinished: locked if a process runs it, else `unfinished`.
pub(crate) fn unfinished_result<B>(lock: Option<Lock>, unfinished: B) -> CommandResult<B> {
    let current = lock.filter(|lock| !lock.looks_expired(Timestamp::now()));
    current.map_or_else(|| CommandResult::Refused(unfinished), CommandResult::Held)
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use mooring_workflow::lock::LockOwner;

    use super::*;

    #[test]
    fn renewed_lock_blocks_a_new_run_and_a_stale_one_does_not() {
        let lock = |age: i64| {
            let owner = LockOwner { host: "h".into(), pid: 7, holder: "x".into() };
            let heartbeat = Timestamp::now() - SignedDuration::from_secs(age);
            Lock { owner, heartbeat }
        };
        let blocks = |lock| matches!(unfinished_result(lock, ()), CommandResult::Held(_));
        assert!(blocks(Some(lock(5))));
        assert!(!blocks(Some(lock(40))), "it expired");
        assert!(!blocks(None));
        assert!(format_lock(&lock(5)).starts_with("locked by h (pid 7), last heartbeat 2"));
        assert!(format_lock(&lock(40)).contains("(pid 7, expired)"));
    }
}
