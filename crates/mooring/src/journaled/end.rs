//! How a run ended, as an exit code and a sentence.

use jiff::{SignedDuration, Timestamp};
use mooring_repair::journal::Lock;
use mooring_repair::shell::JournalEnding as Ending;

use super::progress::write;
use crate::failure::Failure;

/// An owner that was heard of within this time is at work.
const ALIVE: SignedDuration = SignedDuration::from_secs(30);

/// The exit code of an ending. `next` says what can be done with a run that can be resumed; `rested` tells the code of
/// one that came to rest, or why it can be resumed.
pub(crate) fn code<R, B>(
    ending: Ending<R, B>,
    command: &str,
    next: &str,
    rested: impl FnOnce(R) -> Result<u8, String>,
    refusal: impl FnOnce(&B) -> Failure,
) -> Result<u8, Failure> {
    let resumable = |why: String| Failure::resumable(format!("{why}\nhint: {next}"));
    match ending {
        Ending::Rested(rest) => rested(rest).map_err(resumable),
        Ending::Resumable(why) => Err(resumable(why)),
        Ending::Nothing(text) => {
            write(&format!("{text}; nothing to do\n"));
            Ok(0)
        }
        Ending::Refused(error) => Err(refusal(&error)),
        Ending::Held(lock) => Err(Failure::refused(format!(
            "{}\nhint: `mooring {command} status` tells how far it is",
            held(&lock)
        ))),
        Ending::Failed(why) => Err(Failure::unreadable(format!(
            "{why}\nhint: without rights on ConfigMaps in kube-system, `--journal FILE` keeps the journal here"
        ))),
    }
}

/// Who works on it.
pub(crate) fn held(lock: &Lock) -> String {
    let owner = &lock.owner;
    format!("{} (process {}) works on this, heard of at {}", owner.host, owner.pid, lock.heartbeat)
}

/// What an earlier run that is not over means for one that should begin: somebody is at work, or `left`.
pub(crate) fn unfinished<R, B>(lock: Option<Lock>, left: B) -> Ending<R, B> {
    let alive = lock.filter(|lock| Timestamp::now().duration_since(lock.heartbeat) < ALIVE);
    alive.map_or_else(|| Ending::Refused(left), Ending::Held)
}
