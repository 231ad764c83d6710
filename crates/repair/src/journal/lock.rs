//! Who runs a repair, and when somebody else may.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// A lock whose owner was not heard of for this long is free.
pub const SILENCE: SignedDuration = SignedDuration::from_secs(30);

/// A process on a machine. All of it together is unique, also after a restart of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The machine's name.
    pub host: String,
    /// The machine's boot.
    pub boot: String,
    /// The process.
    pub pid: u32,
    /// When the process started, in clock ticks since the boot.
    pub start: u64,
    /// A number drawn at its start.
    pub holder: String,
}

/// A lock that is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// By whom.
    pub owner: Owner,
    /// When the owner was last heard of, by its own clock.
    pub heartbeat: Timestamp,
}

/// What is known of the owner's process. Only asked for an owner on this machine and boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// A process with this number and start time runs.
    Alive,
    /// There is none.
    Gone,
    /// It cannot be told.
    Unknown,
}

/// Whether a lock may be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakeOver {
    /// It is ours already.
    Ours,
    /// Now.
    Yes,
    /// Not before this instant, unless the owner is heard of again.
    NotBefore(Timestamp),
}

/// Decides whether `me` may take `lock` over.
///
/// `unchanged_since` is when this process first saw this very heartbeat, by its own clock: an owner whose
/// clock is ahead would otherwise hold its lock for ever.
#[must_use]
pub fn may_take_over(
    lock: &Lock,
    me: &Owner,
    liveness: Liveness,
    unchanged_since: Timestamp,
    now: Timestamp,
) -> TakeOver {
    if lock.owner == *me {
        return TakeOver::Ours;
    }
    let same_host = lock.owner.host == me.host;
    let rebooted = same_host && lock.owner.boot != me.boot;
    if rebooted || (same_host && liveness == Liveness::Gone) {
        return TakeOver::Yes;
    }
    let heard = lock.heartbeat.min(unchanged_since);
    let silent_at = heard.checked_add(SILENCE).unwrap_or(Timestamp::MAX);
    if now >= silent_at { TakeOver::Yes } else { TakeOver::NotBefore(silent_at) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(host: &str, boot: &str, pid: u32) -> Owner {
        Owner {
            host: host.into(),
            boot: boot.into(),
            pid,
            start: 5,
            holder: format!("{host}{pid}"),
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + second).unwrap()
    }

    #[test]
    fn a_lock_goes_over_at_once_only_if_its_owner_is_surely_gone() {
        let me = owner("a", "b1", 2);
        let lock = |owner: Owner| Lock { owner, heartbeat: at(0) };
        let ask = |owner: Owner, liveness| may_take_over(&lock(owner), &me, liveness, at(1), at(1));
        let wait = TakeOver::NotBefore(at(30));
        assert_eq!(ask(me.clone(), Liveness::Alive), TakeOver::Ours);
        assert_eq!(ask(owner("a", "b1", 1), Liveness::Gone), TakeOver::Yes);
        assert_eq!(ask(owner("a", "b1", 1), Liveness::Alive), wait);
        assert_eq!(ask(owner("a", "b1", 1), Liveness::Unknown), wait);
        assert_eq!(
            ask(owner("a", "b0", 1), Liveness::Unknown),
            TakeOver::Yes,
            "the machine restarted"
        );
        assert_eq!(
            ask(owner("z", "b1", 1), Liveness::Gone),
            wait,
            "a process elsewhere cannot be asked"
        );
        assert_eq!(ask(owner("z", "b0", 1), Liveness::Unknown), wait);
    }

    #[test]
    fn a_silent_lock_is_free_after_thirty_seconds() {
        let me = owner("a", "b1", 2);
        let lock = Lock { owner: owner("z", "b", 1), heartbeat: at(0) };
        let ask = |since, now| may_take_over(&lock, &me, Liveness::Unknown, at(since), at(now));
        assert_eq!(ask(10, 29), TakeOver::NotBefore(at(30)));
        assert_eq!(ask(10, 30), TakeOver::Yes);
        // The owner's clock is ahead of ours by an hour: our own clock counts.
        assert_eq!(ask(-3600, -3580), TakeOver::NotBefore(at(-3570)));
        assert_eq!(ask(-3600, -3570), TakeOver::Yes);
    }
}
