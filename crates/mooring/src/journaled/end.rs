//! How a run ended, as an exit code and a sentence.

use jiff::Timestamp;
use mooring_redact::{printable, shell_word};
use mooring_workflow::command::CommandResult;
use mooring_workflow::lock::Lock;
use mooring_workflow::store::JournalPlace;
use mooring_workflow::store::NAMESPACE;

use super::progress::write;
use crate::failure::Failure;

/// The exit code of an ending. `status` is the command that tells how far a run is, `next` says what can be done with one
/// that can be resumed; `rested` tells the code of one that came to rest, or why it can be resumed.
pub(crate) fn code<R, B>(
    ending: CommandResult<R, B>,
    status: &str,
    next: &str,
    rested: impl FnOnce(R) -> Result<u8, String>,
    refusal: impl FnOnce(&B) -> Failure,
) -> Result<u8, Failure> {
    let resumable = |why: String| Failure::resumable(format!("{why}\nhint: {next}"));
    match ending {
        CommandResult::Rested(rest) => rested(rest).map_err(resumable),
        CommandResult::Resumable(why) => Err(resumable(why)),
        CommandResult::Nothing(text) => {
            write(&format!("{text}; nothing to do\n"));
            Ok(0)
        }
        CommandResult::Refused(error) => Err(refusal(&error)),
        CommandResult::Held(lock) => {
            let stopped = if lock.expires {
                String::new()
            } else {
                format!("; a stopped process keeps its lock (`kill {}`)", lock.owner.pid)
            };
            let hint = format!("hint: `{status}` shows its progress{stopped}");
            Err(Failure::refused(format!("{}\n{hint}", held(&lock))))
        }
        CommandResult::Failed(why) => Err(Failure::unreadable(why)),
        CommandResult::NoJournal(why) => Err(Failure::unreadable(format!(
            "{why}\nhint: `--journal` takes a file in a folder that exists, or `configmap`, which needs permissions on ConfigMaps and Leases in its namespace ({NAMESPACE} by default)"
        ))),
    }
}

/// The flag that leads back to a journal; none for the usual place.
pub(crate) fn flag(place: &JournalPlace) -> String {
    match place {
        JournalPlace::ConfigMap(namespace) if namespace == NAMESPACE => String::new(),
        JournalPlace::ConfigMap(namespace) => {
            format!(" --journal {}", shell_word(&format!("configmap/{namespace}")))
        }
        JournalPlace::File(path) => format!(" --journal {}", shell_word(path)),
    }
}

/// Returns the process that holds the lock, for people.
pub(crate) fn held(lock: &Lock) -> String {
    let expired = if lock.looks_expired(Timestamp::now()) { ", expired" } else { "" };
    let (host, pid) = (printable(&lock.owner.host), lock.owner.pid);
    format!("locked by {host} (pid {pid}{expired}), last heartbeat {:.0}", lock.heartbeat)
}

/// The result of a run that should begin while an earlier one is unfinished: another process drives it, or `left`.
pub(crate) fn in_the_way<R, B>(lock: Option<Lock>, left: B) -> CommandResult<R, B> {
    let current = lock.filter(|lock| !lock.looks_expired(Timestamp::now()));
    current.map_or_else(|| CommandResult::Refused(left), CommandResult::Held)
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use mooring_workflow::lock::Owner;

    use super::*;

    #[test]
    fn only_a_lock_that_is_renewed_is_in_the_way() {
        let of = |expires: bool, age: i64| {
            let owner = Owner { host: "h".into(), pid: 7, holder: "x".into() };
            let heartbeat = Timestamp::now() - SignedDuration::from_secs(age);
            Lock { owner, heartbeat, expires }
        };
        let blocks = |lock| matches!(in_the_way::<(), _>(lock, ()), CommandResult::Held(_));
        assert!(blocks(Some(of(true, 5))));
        assert!(!blocks(Some(of(true, 40))), "it expired");
        assert!(blocks(Some(of(false, 40))), "the kernel keeps it");
        assert!(!blocks(None));
        assert!(held(&of(true, 5)).starts_with("locked by h (pid 7), last heartbeat 2"));
        assert!(held(&of(true, 40)).contains("(pid 7, expired)"));
    }
}
