//! Which process holds a journal, and when another one may.

mod acquire;

pub use acquire::{LockError, LockWait, acquire};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// A lock whose owner was not heard of for this long is free.
pub const SILENCE: SignedDuration = SignedDuration::from_secs(30);

/// A living owner writes its lock more often than this, whatever its clock says.
pub const STEADY: SignedDuration = SignedDuration::from_secs(12);

/// A process on a machine. All of it together is unique, also after a restart of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub host: String,
    pub boot: String,
    pub pid: u32,
    /// When the process started, in clock ticks since the boot.
    pub start: u64,
    /// A number drawn at its start.
    pub holder: String,
}

/// A lock that is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    pub owner: Owner,
    /// When the owner was last heard of, by its own clock.
    pub heartbeat: Timestamp,
}

/// What is known of the owner's process. Only asked for an owner on this machine and boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// A process with this number and start time runs.
    Alive,
    Gone,
    /// It cannot be told.
    Unknown,
}

/// Whether a lock may be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakeOver {
    /// It is ours already.
    Ours,
    Yes,
    /// Not before this long from now, and only if the owner is not heard of again.
    NotIn(SignedDuration),
}

/// Decides whether `me` may take `lock` over.
///
/// Two machines have two clocks: `unchanged` is for how long this process has seen this very heartbeat. An owner whose
/// clock is ahead would otherwise hold its lock for ever, and one whose clock is behind would lose it while it is at work.
pub fn may_take_over(
    lock: &Lock,
    me: &Owner,
    liveness: Liveness,
    unchanged: SignedDuration,
    now: Timestamp,
) -> TakeOver {
    if lock.owner == *me {
        return TakeOver::Ours;
    }
    // Two machines may have the same name, but not the same boot.
    let same_boot = lock.owner.host == me.host && lock.owner.boot == me.boot;
    if same_boot && liveness == Liveness::Gone {
        return TakeOver::Yes;
    }
    let by_its_clock = SILENCE - now.duration_since(lock.heartbeat);
    let left = by_its_clock.max(STEADY - unchanged).min(SILENCE - unchanged);
    if left.is_positive() { TakeOver::NotIn(left) } else { TakeOver::Yes }
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

    fn seconds(number: i64) -> SignedDuration {
        SignedDuration::from_secs(number)
    }

    #[test]
    fn a_lock_goes_over_at_once_only_if_its_owner_is_surely_gone() {
        let me = owner("a", "b1", 2);
        let lock = |owner: Owner| Lock { owner, heartbeat: at(0) };
        let ask =
            |owner: Owner, liveness| may_take_over(&lock(owner), &me, liveness, seconds(0), at(1));
        let wait = TakeOver::NotIn(seconds(29));
        assert_eq!(ask(me.clone(), Liveness::Alive), TakeOver::Ours);
        assert_eq!(ask(owner("a", "b1", 1), Liveness::Gone), TakeOver::Yes);
        assert_eq!(ask(owner("a", "b1", 1), Liveness::Alive), wait);
        assert_eq!(ask(owner("a", "b1", 1), Liveness::Unknown), wait);
        for elsewhere in [owner("z", "b1", 1), owner("z", "b0", 1)] {
            assert_eq!(ask(elsewhere, Liveness::Gone), wait, "it cannot be asked");
        }
        let restarted = owner("a", "b0", 1);
        assert_eq!(ask(restarted, Liveness::Gone), wait, "or another machine of the same name");
    }

    #[test]
    fn a_silent_lock_is_free_after_thirty_seconds() {
        let me = owner("a", "b1", 2);
        let lock = Lock { owner: owner("z", "b", 1), heartbeat: at(0) };
        let ask = |unchanged, now| {
            may_take_over(&lock, &me, Liveness::Unknown, seconds(unchanged), at(now))
        };
        assert_eq!(ask(19, 29), TakeOver::NotIn(seconds(1)));
        assert_eq!(ask(20, 30), TakeOver::Yes);
        // The owner's clock is ahead of ours by an hour: what we have seen counts.
        assert_eq!(ask(20, -3580), TakeOver::NotIn(seconds(10)));
        assert_eq!(ask(30, -3570), TakeOver::Yes);
        // It is behind, or ours has jumped: whoever lives is heard of within seconds.
        assert_eq!(ask(0, 3600), TakeOver::NotIn(STEADY));
        assert_eq!(ask(11, 3600), TakeOver::NotIn(seconds(1)));
        assert_eq!(ask(12, 3600), TakeOver::Yes);
    }
}
