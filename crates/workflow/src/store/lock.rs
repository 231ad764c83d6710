//! The lock of a journal: a Lease, so that one process at a time drives a run.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mooring_k8s::{
    Client, Clock, Gate, Holder, Lease, LeaseAttempt, RequestError, Times, read_lease,
};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::Instant;

use super::error::{PAUSES, StoreError, explain};
use crate::model;

/// The next holder may start 30 s after a renewal. The holder starts no effect later than 20 s after it, which leaves 10 s
/// for a request in progress.
pub const TIMES: Times = Times {
    lease: Duration::from_secs(30),
    renew: Duration::from_secs(20),
    retry: Duration::from_secs(5),
};

/// The first term of a [`Gate`], and the only one: a run never acquires a lost Lease again.
pub(crate) const TERM: u64 = 1;

const POLL_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockOwner {
    pub host: String,
    pub pid: u32,
    /// Unique random number.
    pub holder: String,
}

impl LockOwner {
    pub fn this_process(holder: String) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self { host, pid: std::process::id(), holder }
    }

    fn identity(&self) -> String {
        format!("{}_{}_{}", self.host, self.pid, self.holder)
    }
}

/// Returns a unique random number.
pub fn random_id() -> String {
    use ring::rand::{SecureRandom as _, SystemRandom};
    let mut bytes = [0; 16];
    // Without random bytes the host and process ID remain.
    let _ = SystemRandom::new().fill(&mut bytes);
    crate::canonical::hash_bytes(&bytes)[..32].to_owned()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lock {
    pub owner: LockOwner,
    /// The last renewal by the owner's clock.
    pub heartbeat: Timestamp,
}

impl Lock {
    /// Returns true if the owner has not renewed it in time, if clocks agree.
    pub fn looks_expired(&self, now: Timestamp) -> bool {
        let duration = SignedDuration::try_from(TIMES.lease).unwrap_or(SignedDuration::MAX);
        now.duration_since(self.heartbeat) >= duration
    }

    fn waiting(&self, now: Timestamp) -> String {
        let LockOwner { host, pid, .. } = &self.owner;
        let host = mooring_redact::printable(host);
        let age = now.duration_since(self.heartbeat).as_secs().max(0);
        let lease = TIMES.lease.as_secs();
        format!(
            "locked by {host} (pid {pid}), last heartbeat {age}s ago; waiting for the lock to expire ({lease}s)"
        )
    }
}

impl From<Lease> for Lock {
    /// Other programs may have written the Lease.
    fn from(lease: Lease) -> Self {
        let mut parts = lease.holder.rsplitn(3, '_');
        let (holder, pid, host) = (parts.next(), parts.next(), parts.next());
        let owner = match (host, pid.and_then(|pid| pid.parse().ok()), holder) {
            (Some(host), Some(pid), Some(holder)) => {
                LockOwner { host: host.to_owned(), pid, holder: holder.to_owned() }
            }
            _ => LockOwner { host: lease.holder.clone(), pid: 0, holder: String::new() },
        };
        let heartbeat = lease.renewed.parse().unwrap_or(Timestamp::UNIX_EPOCH);
        Self { owner, heartbeat }
    }
}

pub(crate) async fn lease_holder(
    client: &Client,
    namespace: &str,
    name: &str,
) -> Result<Option<Lock>, RequestError> {
    let lease = read_lease(client, namespace, name).await?;
    Ok(lease.filter(|lease| !lease.holder.is_empty()).map(Lock::from))
}

pub struct JournalLock {
    holder: Holder,
    gate: Arc<Gate>,
    clock: Clock,
    namespace: String,
}

impl JournalLock {
    pub(crate) fn new(
        client: Client,
        namespace: &str,
        name: &str,
        owner: &LockOwner,
        clock: &model::Clock,
    ) -> Self {
        let clock = monotonic(clock());
        let gate = Arc::new(Gate::new(Arc::clone(&clock)));
        let identity = owner.identity();
        let holder = Holder::new(client, namespace, name, &identity, TIMES, Arc::clone(&clock));
        Self { holder, gate, clock, namespace: namespace.to_owned() }
    }

    /// Returns the gate that closes when the lock is not renewed.
    pub(crate) fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.gate)
    }

    /// Renews the lock; fails if it was lost.
    pub async fn confirm(&mut self) -> Result<(), StoreError> {
        match self.attempt().await {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(StoreError::LostLock),
            Err(error) => {
                let until = self.holder.may_write_until();
                let is_current = until.is_some_and(|until| (self.clock)() < until);
                if is_current && is_transient(&error) { Ok(()) } else { Err(self.lacks(&error)) }
            }
        }
    }

    /// Acquires or renews the lock, unless it is held by another process.
    async fn attempt(&mut self) -> Result<Option<Lock>, RequestError> {
        match self.holder.attempt().await? {
            LeaseAttempt::Held => {
                if let Some(until) = self.holder.may_write_until() {
                    self.gate.open(until);
                }
                Ok(None)
            }
            LeaseAttempt::Waiting(lease) | LeaseAttempt::Lost(lease) => {
                self.gate.close();
                Ok(Some(lease.into()))
            }
        }
    }

    fn lacks(&self, error: &RequestError) -> StoreError {
        StoreError::Unavailable(explain(error, &self.namespace))
    }

    /// Acquires the lock, or waits for it as long as `wait` allows.
    pub(crate) async fn acquire(
        &mut self,
        wait: LockWait,
        clock: &model::Clock,
        stop: &mut watch::Receiver<bool>,
        report: &mut dyn FnMut(&str),
    ) -> Result<(), LockError> {
        let began = Instant::now();
        let mut pauses = PAUSES.iter();
        loop {
            let pause = match self.attempt().await {
                Ok(None) => return Ok(()),
                Ok(Some(holder)) if began.elapsed() >= wait.limit(&holder, clock()) => {
                    return Err(LockError::Busy(holder));
                }
                Ok(Some(holder)) => {
                    report(&holder.waiting(clock()));
                    pauses = PAUSES.iter();
                    POLL_INTERVAL
                }
                Err(error) => match pauses.next() {
                    Some(pause) if is_transient(&error) => *pause,
                    _ => return Err(LockError::Store(self.lacks(&error))),
                },
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                true = async { stop.wait_for(|stop| *stop).await.is_ok() } => {
                    return Err(LockError::Interrupted);
                }
            }
        }
    }

    /// Renews the lock until it is lost.
    pub async fn keep(&mut self) -> StoreError {
        loop {
            tokio::time::sleep(TIMES.retry).await;
            // The API server may recover; the next attempt shows if the Lease is lost.
            if let Ok(Some(_)) = self.attempt().await {
                return StoreError::LostLock;
            }
        }
    }

    /// Releases the lock, which otherwise expires.
    pub async fn release(&mut self) {
        self.gate.close();
        self.holder.release().await;
    }
}

/// Returns true for a lost response, a busy server or a conflict.
fn is_transient(error: &RequestError) -> bool {
    error.status.is_none_or(|status| matches!(status, 408 | 409 | 429 | 500..))
}

/// Returns a monotonic clock: a correction of the host's clock must neither extend nor end a Lease.
fn monotonic(start: Timestamp) -> Clock {
    let began = Instant::now();
    Arc::new(move || start.checked_add(began.elapsed()).unwrap_or(Timestamp::MAX))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    None,
    Until(SignedDuration),
}

impl LockWait {
    fn limit(self, lock: &Lock, now: Timestamp) -> Duration {
        match self {
            Self::Until(limit) => limit.try_into().unwrap_or_default(),
            // Its owner may have died: within the duration of the Lease a renewal would show.
            Self::None if lock.looks_expired(now) => TIMES.lease + TIMES.retry,
            Self::None => Duration::ZERO,
        }
    }
}

#[derive(Debug)]
pub enum LockError {
    Busy(Lock),
    Interrupted,
    Store(StoreError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_awaited_if_they_may_be_released_soon() {
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(1);
        let lock = |age: i64| Lock {
            owner: LockOwner { host: "h".to_owned(), pid: 1, holder: "a".to_owned() },
            heartbeat: now - SignedDuration::from_secs(age),
        };
        let expired = i64::try_from(TIMES.lease.as_secs()).unwrap() + 1;
        for (wait, lock, expected) in [
            (LockWait::None, lock(0), Duration::ZERO),
            (LockWait::None, lock(expired), TIMES.lease + TIMES.retry),
            (LockWait::Until(SignedDuration::from_secs(9)), lock(0), Duration::from_secs(9)),
        ] {
            assert_eq!(wait.limit(&lock, now), expected, "{wait:?} {lock:?}");
        }
    }

    #[test]
    fn identity_names_host_and_process() {
        let owner = LockOwner { host: "build_7".into(), pid: 42, holder: "0af3".into() };
        let renewed = "2026-11-15T05:00:00.000000Z".to_owned();
        let lease = Lease { holder: owner.identity(), renewed, ..Lease::default() };
        let found = Lock::from(lease);
        assert_eq!(found.owner, owner);
        assert!(!found.looks_expired("2026-11-15T05:00:29Z".parse().unwrap()));
        assert!(found.looks_expired("2026-11-15T05:00:30Z".parse().unwrap()));
        let foreign = Lease { holder: "another-program".into(), ..Lease::default() };
        assert_eq!(Lock::from(foreign).owner.host, "another-program");
    }

    #[test]
    fn processes_have_unique_identities() {
        let (one, two) = (random_id(), random_id());
        assert_ne!(one, two);
        assert!(one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_hexdigit()), "{one}");
        let owner = LockOwner::this_process(one.clone());
        assert_eq!((owner.pid, owner.holder), (std::process::id(), one));
        assert!(!owner.host.is_empty());
    }
}
