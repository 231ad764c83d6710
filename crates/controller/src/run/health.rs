//! State of `/healthz` and `/readyz`.
//!
//! Not healthy: a restart may help, because a part of this process made no progress. Not ready: this process
//! cannot work now, because its caches are not synced or the API server does not respond.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mooring_k8s::kubeconfig::IDLE_LIMIT;

/// The loop reports every 5 s, the Lease every 2 s with a timeout of 4 s each.
const STALL_TIMEOUT: SignedDuration = SignedDuration::from_secs(60);
/// The API server may restart during an upgrade.
const API_TIMEOUT: SignedDuration = SignedDuration::from_secs(30);
const WATCH_TIMEOUT: SignedDuration = SignedDuration::from_secs(60);
/// A watch that was opened so long ago works, even without items: one that receives nothing has failed before.
pub(super) const WORKS_AFTER: Duration = IDLE_LIMIT.saturating_add(Duration::from_secs(30));
const HEARTBEAT_INTERVAL: SignedDuration = SignedDuration::from_secs(5);

#[derive(Debug)]
pub struct Health {
    parts: Mutex<Parts>,
}

#[derive(Debug)]
struct Parts {
    looped: Timestamp,
    tried_lease: Timestamp,
    reached: Option<Timestamp>,
    watches: BTreeMap<&'static str, Watch>,
    broken: Option<&'static str>,
}

#[derive(Debug, Default)]
struct Watch {
    synced: bool,
    /// The first failure since it last worked.
    failing_since: Option<Timestamp>,
    /// The complete list after the last failure.
    listed: Option<Timestamp>,
    /// It failed again after such a list: lists show nothing of a watch that hangs.
    failed_again: bool,
}

impl Watch {
    fn works(&mut self) {
        *self = Self { synced: self.synced, ..Self::default() };
    }

    fn fail(&mut self, now: Timestamp) {
        match self.listed.take() {
            Some(at) if now >= at + WORKS_AFTER => self.works(),
            Some(_) => self.failed_again = true,
            None => {}
        }
        self.failing_since.get_or_insert(now);
    }

    fn is_failing(&self, now: Timestamp) -> bool {
        let is_listed = self.listed.is_some_and(|at| !self.failed_again || now >= at + WORKS_AFTER);
        !is_listed && self.failing_since.is_some_and(|since| now > since + WATCH_TIMEOUT)
    }
}

impl Health {
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self {
            parts: Mutex::new(Parts {
                looped: now,
                tried_lease: now,
                reached: None,
                watches: BTreeMap::new(),
                broken: None,
            }),
        }
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records progress of the loop. Returns true if the last heartbeat is some seconds ago.
    pub(crate) fn record_loop(&self, now: Timestamp) -> bool {
        let mut parts = self.parts();
        let due = now.duration_since(parts.looped) >= HEARTBEAT_INTERVAL;
        if due {
            parts.looped = now;
        }
        due
    }

    /// Records an attempt on the Lease, and whether the API server responded.
    pub(crate) fn record_lease(&self, now: Timestamp, reached: bool) {
        let mut parts = self.parts();
        parts.tried_lease = now;
        if reached {
            parts.reached = Some(now);
        }
    }

    /// Registers a watch that must be synced before this replica is ready.
    pub(crate) fn expect(&self, watch: &'static str) {
        self.parts().watches.insert(watch, Watch::default());
    }

    /// Records an item of a watch.
    pub(crate) fn watched(&self, watch: &'static str) {
        if let Some(watch) = self.parts().watches.get_mut(watch) {
            watch.works();
        }
    }

    /// Records the complete list before a watch.
    pub(crate) fn listed(&self, watch: &'static str, now: Timestamp) {
        if let Some(watch) = self.parts().watches.get_mut(watch) {
            watch.synced = true;
            watch.listed = watch.failing_since.map(|_| now);
        }
    }

    pub(crate) fn failed(&self, watch: &'static str, now: Timestamp) {
        if let Some(watch) = self.parts().watches.get_mut(watch) {
            watch.fail(now);
        }
    }

    /// Records the end of a task that never ends.
    pub(crate) fn broken(&self, what: &'static str) {
        tracing::error!("{what}");
        self.parts().broken = Some(what);
    }

    pub(crate) fn is_synced(&self) -> bool {
        self.parts().watches.values().all(|watch| watch.synced)
    }

    pub fn healthz(&self, now: Timestamp) -> Result<(), String> {
        let parts = self.parts();
        if let Some(what) = parts.broken {
            return Err(what.to_owned());
        }
        for (what, at) in [("event loop", parts.looped), ("leader election", parts.tried_lease)] {
            let age = now.duration_since(at);
            if age > STALL_TIMEOUT {
                return Err(format!("{what} made no progress for {}s", age.as_secs()));
            }
        }
        Ok(())
    }

    pub fn readyz(&self, now: Timestamp) -> Result<(), String> {
        self.healthz(now)?;
        let parts = self.parts();
        for (name, watch) in &parts.watches {
            if !watch.synced {
                return Err(format!("waiting for cache sync: {name}"));
            }
            if watch.is_failing(now) {
                return Err(format!("watch failing: {name}"));
            }
        }
        match parts.reached {
            Some(at) if now.duration_since(at) <= API_TIMEOUT => Ok(()),
            _ => Err("API server not responding".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    #[test]
    fn readyz_requires_synced_caches_and_the_api_server() {
        let health = Health::new(at(0));
        health.expect("NodeClaims");
        assert_eq!(health.healthz(at(1)), Ok(()));
        assert_eq!(health.readyz(at(1)).unwrap_err(), "waiting for cache sync: NodeClaims");
        health.listed("NodeClaims", at(1));
        assert_eq!(health.readyz(at(1)).unwrap_err(), "API server not responding");
        health.record_lease(at(1), true);
        assert_eq!(health.readyz(at(2)), Ok(()));
        health.failed("NodeClaims", at(2));
        health.record_lease(at(50), true);
        assert!(health.record_loop(at(50)));
        assert_eq!(health.readyz(at(50)), Ok(()));
        assert_eq!(health.readyz(at(63)).unwrap_err(), "watch failing: NodeClaims");
        health.watched("NodeClaims");
        health.record_lease(at(100), true);
        assert!(health.record_loop(at(100)));
        assert_eq!(health.readyz(at(110)), Ok(()), "watch recovered");
        health.failed("NodeClaims", at(110));
        health.record_lease(at(160), true);
        assert_eq!(health.readyz(at(160)), Ok(()), "its last failure is too recent");
    }

    #[test]
    fn readyz_fails_after_the_time_of_each_part() {
        let health = Health::new(at(0));
        health.expect("NodeClaims");
        health.listed("NodeClaims", at(0));
        health.record_lease(at(0), true);
        assert_eq!(health.readyz(at(30)), Ok(()));
        assert_eq!(health.readyz(at(31)).unwrap_err(), "API server not responding");
        health.failed("NodeClaims", at(0));
        health.record_lease(at(60), true);
        assert_eq!((health.healthz(at(60)), health.readyz(at(60))), (Ok(()), Ok(())));
        assert!(health.record_loop(at(60)) && !health.record_loop(at(64)));
        assert!(health.record_loop(at(65)), "five seconds later");
        assert_eq!(health.readyz(at(61)).unwrap_err(), "watch failing: NodeClaims");
    }

    #[test]
    fn lists_do_not_show_that_a_watch_works_which_fails_again() {
        let health = Health::new(at(0));
        let readyz = |second| {
            health.record_loop(at(second));
            health.record_lease(at(second), true);
            health.readyz(at(second)).err()
        };
        let failing = Some("watch failing: events".to_owned());
        let limit = IDLE_LIMIT.as_secs().cast_signed();
        health.expect("events");
        health.listed("events", at(0));
        // Nothing was received after the list, and again after the next.
        health.failed("events", at(limit));
        assert_eq!(readyz(limit + 61), failing);
        health.listed("events", at(limit + 62));
        assert_eq!(readyz(limit + 62), None, "one failure after which a list succeeds");
        health.failed("events", at(2 * limit + 62));
        assert_eq!(readyz(2 * limit + 62), failing);
        health.listed("events", at(2 * limit + 63));
        assert_eq!(readyz(3 * limit + 63), failing, "the next failure is due");
        // Without items, time shows that it works: it has bookmarks.
        assert_eq!(readyz(3 * limit + 93), None);
        health.failed("events", at(3 * limit + 100));
        health.listed("events", at(3 * limit + 170));
        assert_eq!(readyz(3 * limit + 171), None, "it had worked before this failure");
        health.failed("events", at(3 * limit + 180));
        health.listed("events", at(3 * limit + 181));
        assert_eq!(readyz(3 * limit + 181), failing);
        health.watched("events");
        assert_eq!(readyz(3 * limit + 181), None);
    }

    #[test]
    fn healthz_fails_for_a_stalled_part() {
        let health = Health::new(at(0));
        health.record_lease(at(50), false);
        assert_eq!(health.healthz(at(61)).unwrap_err(), "event loop made no progress for 61s");
        assert!(health.record_loop(at(61)));
        assert_eq!(health.healthz(at(62)), Ok(()));
        health.broken("a watch task ended");
        assert_eq!(health.healthz(at(62)).unwrap_err(), "a watch task ended");
    }
}
