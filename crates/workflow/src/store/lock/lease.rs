//! The lock of a journal in the cluster: a Lease with the name of its `ConfigMap`.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mooring_k8s::{
    Client, Clock, Gate, Holder, Lease, LeaseAttempt, RequestError, Times, read_lease,
};
use tokio::time::Instant;

use super::{Lock, LockAttempt, LockOwner};
use crate::engine;
use crate::store::error::{StoreError, explain};

/// The next holder may start 30 s after a renewal. The holder starts no effect later than 20 s after it, which leaves 10 s
/// for a request in progress.
pub const TIMES: Times = Times {
    lease: Duration::from_secs(30),
    renew: Duration::from_secs(20),
    retry: Duration::from_secs(5),
};

/// The first term of a [`Gate`], and the only one: a run never acquires a lost Lease again.
pub(crate) const TERM: u64 = 1;

impl Lock {
    /// Returns true if the owner has not renewed it in time, if clocks agree.
    pub fn looks_expired(&self, now: Timestamp) -> bool {
        let duration = SignedDuration::try_from(TIMES.lease).unwrap_or(SignedDuration::MAX);
        now.duration_since(self.heartbeat) >= duration
    }
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
        clock: &engine::Clock,
    ) -> Self {
        let clock = monotonic(clock());
        let gate = Arc::new(Gate::new(Arc::clone(&clock)));
        let identity = identity(owner);
        let holder = Holder::new(client, namespace, name, &identity, TIMES, Arc::clone(&clock));
        Self { holder, gate, clock, namespace: namespace.to_owned() }
    }

    /// Returns the gate that closes when the lock is not renewed.
    pub(crate) fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.gate)
    }

    /// Renews the lock; fails if it was lost.
    pub async fn confirm(&mut self) -> Result<(), StoreError> {
        match self.attempt().await? {
            LockAttempt::Held => Ok(()),
            LockAttempt::HeldBy(_) => Err(StoreError::LostLock),
            LockAttempt::Failed(why) => {
                let until = self.holder.may_write_until();
                let is_current = until.is_some_and(|until| (self.clock)() < until);
                if is_current { Ok(()) } else { Err(StoreError::Unavailable(why)) }
            }
        }
    }

    pub(super) async fn attempt(&mut self) -> Result<LockAttempt, StoreError> {
        match self.holder.attempt().await {
            Ok(LeaseAttempt::Held) => {
                if let Some(until) = self.holder.may_write_until() {
                    self.gate.open(until);
                }
                Ok(LockAttempt::Held)
            }
            Ok(LeaseAttempt::Waiting(lease) | LeaseAttempt::Lost(lease)) => {
                self.gate.close();
                Ok(LockAttempt::HeldBy(lock(&lease)))
            }
            Err(error) if is_transient(&error) => Ok(LockAttempt::Failed(error.to_string())),
            Err(error) => Err(StoreError::Unavailable(explain(&error, &self.namespace))),
        }
    }

    /// Renews the lock until it is lost.
    pub async fn keep(&mut self) -> StoreError {
        loop {
            tokio::time::sleep(TIMES.retry).await;
            match self.attempt().await {
                Ok(LockAttempt::HeldBy(_)) => return StoreError::LostLock,
                // The API server may recover; the next attempt shows if the Lease is lost.
                Ok(LockAttempt::Held | LockAttempt::Failed(_)) | Err(_) => {}
            }
        }
    }

    /// Releases the lock, which otherwise expires.
    pub async fn release(&mut self) {
        self.gate.close();
        self.holder.release().await;
    }
}

pub(crate) async fn lease_holder(
    client: &Client,
    namespace: &str,
    name: &str,
) -> Result<Option<Lock>, RequestError> {
    let lease = read_lease(client, namespace, name).await?;
    Ok(lease.filter(|lease| !lease.holder.is_empty()).map(|lease| lock(&lease)))
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

fn identity(owner: &LockOwner) -> String {
    format!("{}_{}_{}", owner.host, owner.pid, owner.holder)
}

/// Returns the holder of a Lease, which other programs may have written.
fn lock(lease: &Lease) -> Lock {
    let mut parts = lease.holder.rsplitn(3, '_');
    let (holder, pid, host) = (parts.next(), parts.next(), parts.next());
    let owner = match (host, pid.and_then(|pid| pid.parse().ok()), holder) {
        (Some(host), Some(pid), Some(holder)) => {
            LockOwner { host: host.to_owned(), pid, holder: holder.to_owned() }
        }
        _ => LockOwner { host: lease.holder.clone(), pid: 0, holder: String::new() },
    };
    let heartbeat = lease.renewed.parse().unwrap_or(Timestamp::UNIX_EPOCH);
    Lock { owner, heartbeat }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_names_host_and_process() {
        let owner = LockOwner { host: "build_7".into(), pid: 42, holder: "0af3".into() };
        let renewed = "2026-11-15T05:00:00.000000Z".to_owned();
        let lease = Lease { holder: identity(&owner), renewed, ..Lease::default() };
        let found = lock(&lease);
        assert_eq!(found.owner, owner);
        assert!(!found.looks_expired("2026-11-15T05:00:29Z".parse().unwrap()));
        assert!(found.looks_expired("2026-11-15T05:00:30Z".parse().unwrap()));
        let foreign = Lease { holder: "another-program".into(), ..Lease::default() };
        assert_eq!(lock(&foreign).owner.host, "another-program");
    }
}
