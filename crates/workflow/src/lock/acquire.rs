//! Getting the lock of a journal, or waiting for it.

use std::time::Duration;

use jiff::SignedDuration;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Lock, Owner, SILENCE, STEADY, TakeOver, may_take_over};
use crate::journal::Content;
use crate::live::Clock;
use crate::process::liveness;
use crate::store::{Contents, Store, StoreError};

/// Between two looks at somebody else's lock.
const LOOK: Duration = Duration::from_secs(1);
/// What looking may take in between.
const GRACE: SignedDuration = SignedDuration::from_secs(3);

/// What happens if somebody else holds the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    None,
    /// Wait for the owner to fall silent, this long at most.
    Until(SignedDuration),
}

impl LockWait {
    /// The longest that is waited, if this is how the lock stands.
    fn most(self, decision: TakeOver) -> SignedDuration {
        match (self, decision) {
            (Self::Until(most), _) => most,
            // Its owner is silent, by all that can be told so soon: a moment shows whether it lives.
            (Self::None, TakeOver::NotIn(left)) if left <= STEADY => STEADY + GRACE,
            (Self::None, _) => SignedDuration::ZERO,
        }
    }
}

/// Why there is no lock.
#[derive(Debug)]
pub enum LockError {
    /// Somebody else has it, and is alive as far as can be told.
    Busy(Lock),
    /// Somebody asked to stop waiting.
    Interrupted,
    /// Somebody has the file of this place and does not say who they are.
    Unnamed(String),
    /// The store says no.
    Store(StoreError),
}

/// Takes the lock and gives what the journal holds.
pub async fn acquire<E: Content>(
    store: &mut Store<E>,
    me: &Owner,
    wait: LockWait,
    clock: &Clock,
    stop: &mut watch::Receiver<bool>,
    say: &mut dyn FnMut(&str),
) -> Result<Contents<E>, LockError> {
    let began = clock();
    let mut seen: Option<(Lock, Instant)> = None;
    loop {
        let contents = store.load().await.map_err(LockError::Store)?;
        let now = clock();
        let decision = match &contents.lock {
            None => TakeOver::Yes,
            Some(lock) => {
                let since = match &seen {
                    Some((known, since)) if known == lock => *since,
                    _ => Instant::now(),
                };
                seen = Some((lock.clone(), since));
                let unchanged = SignedDuration::try_from(since.elapsed()).unwrap_or(SILENCE);
                may_take_over(lock, me, liveness(&lock.owner, me), unchanged, now)
            }
        };
        let holder = contents.lock.clone();
        if matches!(decision, TakeOver::Yes | TakeOver::Ours) {
            match store.take(me, now, contents).await {
                Ok(contents) => return Ok(contents),
                // Somebody was faster: look again, and then it is theirs.
                Err(StoreError::LostLock) => {}
                Err(error) => return Err(LockError::Store(error)),
            }
        }
        if holder.is_none() && now.duration_since(began) >= SILENCE {
            return Err(LockError::Unnamed(store.place()));
        }
        if let Some(lock) = &holder {
            match wait.most(decision) {
                most if now.duration_since(began) < most => {
                    let owner = &lock.owner;
                    let age = now.duration_since(lock.heartbeat).as_secs().max(0);
                    say(&format!(
                        "{} (process {}) holds the run, heard of {age} s ago; waiting until it is silent for 30 s",
                        owner.host, owner.pid
                    ));
                }
                _ => return Err(LockError::Busy(lock.clone())),
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            true = async { stop.wait_for(|stop| *stop).await.is_ok() } => {
                return Err(LockError::Interrupted);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::rc::Rc;

    use jiff::Timestamp;

    use super::*;
    use crate::journal::follow;
    use crate::journal::tests::Note;
    use crate::process::this_process;
    use crate::store::FileStore;

    struct Bench {
        folder: tempfile::TempDir,
        clock: Clock,
    }

    impl Bench {
        fn new() -> Self {
            let began = tokio::time::Instant::now();
            let start: Timestamp = "2026-11-15T05:00:00Z".parse().unwrap();
            let clock: Clock = Rc::new(move || start.checked_add(began.elapsed()).unwrap());
            Self { folder: tempfile::tempdir().unwrap(), clock }
        }

        fn store(&self) -> Store<Note> {
            Store::File(FileStore::new(&self.folder.path().join("journal")))
        }

        /// A lock whose owner has left it behind, as a dead process does.
        fn left_by(&self, owner: &Owner, age: i64) {
            let heartbeat = (self.clock)() - SignedDuration::from_secs(age);
            let lock = Lock { owner: owner.clone(), heartbeat };
            let path = self.folder.path().join("journal.lock");
            #[expect(clippy::disallowed_methods, reason = "a test")]
            std::fs::write(path, serde_json::to_string(&lock).unwrap()).unwrap();
        }

        async fn acquire(&self, me: &Owner, wait: LockWait) -> (Result<(), LockError>, u32, i64) {
            let (_stop, mut stopped) = watch::channel(false);
            let mut said = 0;
            let began = (self.clock)();
            let taken =
                acquire(&mut self.store(), me, wait, &self.clock, &mut stopped, &mut |_| {
                    said += 1;
                })
                .await;
            let took = (self.clock)().duration_since(began).as_secs();
            (taken.map(|_| ()), said, took)
        }
    }

    const PATIENT: LockWait = LockWait::Until(SignedDuration::from_mins(60));

    #[tokio::test(start_paused = true)]
    async fn a_process_of_this_machine_that_is_gone_is_not_waited_for() {
        let bench = Bench::new();
        let me = this_process("me".into());
        bench.left_by(&Owner { pid: u32::MAX - 1, ..me.clone() }, 0);
        let (taken, said, took) = bench.acquire(&me, LockWait::None).await;
        assert!(taken.is_ok() && said == 0 && took == 0, "{taken:?} {said} {took}");
    }

    #[tokio::test(start_paused = true)]
    async fn another_machine_is_waited_for_until_it_was_silent_for_thirty_seconds() {
        let bench = Bench::new();
        let me = this_process("me".into());
        let other = Owner { host: "elsewhere".into(), ..me.clone() };
        bench.left_by(&other, 10);
        let (taken, said, _) = bench.acquire(&me, LockWait::None).await;
        assert!(matches!(taken, Err(LockError::Busy(_))) && said == 0);
        let (taken, said, took) = bench.acquire(&me, PATIENT).await;
        assert!(taken.is_ok(), "{taken:?}");
        assert!(said > 0 && (20..=21).contains(&took), "{said} {took}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_holder_that_does_not_say_who_it_is_does_not_hold_up_for_ever() {
        let bench = Bench::new();
        let path = bench.folder.path().join("journal.lock");
        #[expect(clippy::disallowed_methods, reason = "a test")]
        let file = std::fs::File::create(path).unwrap();
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
        let (taken, _, took) = bench.acquire(&this_process("me".into()), LockWait::None).await;
        assert!(matches!(taken, Err(LockError::Unnamed(_))), "{taken:?}");
        assert!((30..=31).contains(&took), "{took}");
    }

    /// A process that is stopped keeps its lock in the kernel.
    #[tokio::test(start_paused = true)]
    async fn a_stopped_owner_of_a_file_is_waited_for_and_has_lost_the_run() {
        let bench = Bench::new();
        let me = this_process("me".into());
        let stopped = Owner { holder: "stopped".into(), ..me.clone() };
        let mut theirs = bench.store();
        theirs.load().await.unwrap();
        theirs.lock(&stopped, (bench.clock)()).await.unwrap();
        let first = follow(None, "r", (bench.clock)(), Note { text: "first".into() });
        theirs.append(&first, (bench.clock)()).await.unwrap();
        // It was stopped in the middle of writing.
        let path = bench.folder.path().join("journal");
        let mut half = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        let (taken, _, _) = bench.acquire(&me, LockWait::None).await;
        assert!(matches!(taken, Err(LockError::Busy(_))), "{taken:?}");
        let began = (bench.clock)();
        let mut mine = bench.store();
        let (_stop, mut stop) = watch::channel(false);
        let mut said = 0;
        let mut say = |_: &str| said += 1;
        acquire(&mut mine, &me, PATIENT, &bench.clock, &mut stop, &mut say).await.unwrap();
        let took = (bench.clock)().duration_since(began).as_secs();
        assert!(said > 0 && (30..=31).contains(&took), "{said} {took}");
        half.write_all(b"the rest of a line\n").unwrap();
        // It goes on: whatever it says or writes now is refused, and it does not free what is not its own.
        let now = (bench.clock)();
        assert!(matches!(theirs.beat(now).await, Err(StoreError::LostLock)));
        let entry = Note { text: "second".into() };
        let record = follow(Some(&first), "r", now, entry);
        assert!(matches!(theirs.append(&record, now).await, Err(StoreError::LostLock)));
        assert!(matches!(theirs.keep(0, 0).await, Err(StoreError::LostLock)));
        theirs.unlock().await.unwrap();
        let seen = bench.store().load().await.unwrap();
        assert_eq!(seen.lock.unwrap().owner, me);
        assert_eq!(seen.records, [first]);
        mine.append(&record, now).await.unwrap();
    }

    /// Nobody has heard of it for a day, but for a moment it could still be one whose clock is behind.
    #[tokio::test(start_paused = true)]
    async fn a_lock_that_was_left_behind_long_ago_is_taken_after_a_moment() {
        let bench = Bench::new();
        let me = this_process("me".into());
        for other in [
            Owner { host: "elsewhere".into(), ..me.clone() },
            Owner { boot: "before".into(), ..me.clone() },
        ] {
            bench.left_by(&other, 86_400);
            let (taken, said, took) = bench.acquire(&me, LockWait::None).await;
            assert!(taken.is_ok(), "{taken:?}");
            assert!(said > 0 && (12..=13).contains(&took), "{said} {took}");
        }
    }

    /// Its clock is behind, or ours has jumped: what it says is old, and it says it often.
    #[tokio::test(start_paused = true)]
    async fn a_living_owner_keeps_the_run_whatever_the_clocks_say() {
        let bench = Bench::new();
        let me = this_process("me".into());
        let other = Owner { host: "elsewhere".into(), ..me.clone() };
        let mut theirs = bench.store();
        theirs.load().await.unwrap();
        let behind = SignedDuration::from_mins(10);
        theirs.lock(&other, (bench.clock)() - behind).await.unwrap();
        let beats = async {
            loop {
                tokio::time::sleep(Duration::from_secs(5)).await;
                theirs.beat((bench.clock)() - behind).await.unwrap();
            }
        };
        let two_minutes = LockWait::Until(SignedDuration::from_mins(2));
        tokio::select! {
            (taken, ..) = bench.acquire(&me, two_minutes) => {
                assert!(matches!(taken, Err(LockError::Busy(_))), "{taken:?}");
            }
            () = beats => {}
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_owner_whose_clock_is_ahead_does_not_hold_for_ever() {
        let bench = Bench::new();
        let me = this_process("me".into());
        bench.left_by(&Owner { host: "elsewhere".into(), ..me.clone() }, -7200);
        let (taken, _, took) = bench.acquire(&me, PATIENT).await;
        assert!(taken.is_ok() && (30..=31).contains(&took), "{taken:?} {took}");
    }
}
