//! How a run ended, as an exit code and a sentence.

use jiff::Timestamp;
use mooring_redact::{printable, shell_word};
use mooring_workflow::command::CommandResult;
use mooring_workflow::lock::{Liveness, Lock, SILENCE};
use mooring_workflow::process::{liveness, this_process};
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
            Err(Failure::refused(format!("{}\nhint: `{status}` tells how far it is", held(&lock))))
        }
        CommandResult::Failed(why) => Err(Failure::unreadable(why)),
        CommandResult::NoJournal(why) => Err(Failure::unreadable(format!(
            "{why}\nhint: `--journal` takes a file in a folder that exists, or `configmap`, which needs permissions on ConfigMaps in its namespace ({NAMESPACE} by default)"
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

/// Who works on it, or worked.
pub(crate) fn held(lock: &Lock) -> String {
    let owner = &lock.owner;
    let state = if is_gone(lock) { "worked on this and is gone" } else { "works on this" };
    let host = printable(&owner.host);
    format!("{host} (process {}) {state}, heard of at {:.0}", owner.pid, lock.heartbeat)
}

/// What an earlier run that is not over means for one that should begin: somebody is at work, or `left`.
pub(crate) fn in_the_way<R, B>(lock: Option<Lock>, left: B) -> CommandResult<R, B> {
    let silent = |lock: &Lock| Timestamp::now().duration_since(lock.heartbeat) >= SILENCE;
    let alive = lock.filter(|lock| !silent(lock) && !is_gone(lock));
    alive.map_or_else(|| CommandResult::Refused(left), CommandResult::Held)
}

/// True if the owner was a process of this machine that runs no more.
fn is_gone(lock: &Lock) -> bool {
    liveness(&lock.owner, &this_process(String::new())) == Liveness::Gone
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use mooring_workflow::lock::Owner;

    use super::*;

    #[test]
    fn only_an_owner_that_lives_is_in_the_way() {
        let me = this_process(String::new());
        let of = |pid: u32, age: i64| {
            let owner = Owner { pid, ..me.clone() };
            let heartbeat = Timestamp::now() - SignedDuration::from_secs(age);
            Lock { owner, heartbeat }
        };
        let blocks = |lock| matches!(in_the_way::<(), _>(lock, ()), CommandResult::Held(_));
        assert!(blocks(Some(of(me.pid, 5))));
        assert!(!blocks(Some(of(me.pid, 40))), "it is silent");
        assert!(!blocks(Some(of(u32::MAX - 1, 5))), "its process is gone");
        assert!(!blocks(None));
        assert!(held(&of(me.pid, 5)).contains("works on this"));
        assert!(held(&of(u32::MAX - 1, 5)).contains("is gone"));
    }
}
