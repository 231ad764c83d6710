//! Exit code and message of a command that ran.

use jiff::Timestamp;
use mooring_redact::printable;
use mooring_workflow::command::CommandResult;
use mooring_workflow::lock::Lock;
use mooring_workflow::store::NAMESPACE;
use mooring_workflow::{Finish, RunOutcome};

use super::messages::write;
use crate::output::failure::CommandFailure;

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
            let hint = format!("hint: `{status}` shows its progress");
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
