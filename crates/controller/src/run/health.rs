//! What `/healthz` and `/readyz` say.
//!
//! Not healthy means that a restart may help: a part of this process stands still. Not ready means that it
//! cannot do its work now: it has not seen the cluster yet, or the API server does not answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

/// The loop beats every 5 s, the lease every 2 s with answers awaited for 4 s each.
const STANDS_STILL: SignedDuration = SignedDuration::from_secs(60);
/// The API server may be away for the time of an upgrade's restart.
const OUT_OF_REACH: SignedDuration = SignedDuration::from_secs(30);
/// A watch that fails again and again for this long is blind.
const BLIND: SignedDuration = SignedDuration::from_secs(60);
/// How often the loop's beat is passed on.
const BEAT: SignedDuration = SignedDuration::from_secs(5);

/// What each part was last seen doing.
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
    failing_since: Option<Timestamp>,
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

    /// The loop goes round. Says whether the last beat is some seconds ago.
    pub(crate) fn loop_beat(&self, now: Timestamp) -> bool {
        let mut parts = self.parts();
        let due = now.duration_since(parts.looped) >= BEAT;
        if due {
            parts.looped = now;
        }
        due
    }

    /// The lease was looked at, and whether the API server answered.
    pub(crate) fn lease_beat(&self, now: Timestamp, reached: bool) {
        let mut parts = self.parts();
        parts.tried_lease = now;
        if reached {
            parts.reached = Some(now);
        }
    }

    /// A watch that must be complete before this replica is ready.
    pub(crate) fn expect(&self, watch: &'static str) {
        self.parts().watches.insert(watch, Watch::default());
    }

    /// A watch brought something; `synced` if its list is complete.
    pub(crate) fn watched(&self, watch: &'static str, synced: bool) {
        if let Some(watch) = self.parts().watches.get_mut(watch) {
            watch.synced |= synced;
            watch.failing_since = None;
        }
    }

    pub(crate) fn failed(&self, watch: &'static str, now: Timestamp) {
        if let Some(watch) = self.parts().watches.get_mut(watch) {
            watch.failing_since.get_or_insert(now);
        }
    }

    /// Something that never ends did.
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
        for (what, at) in [("the loop", parts.looped), ("the lease", parts.tried_lease)] {
            let age = now.duration_since(at);
            if age > STANDS_STILL {
                return Err(format!("{what} stands still since {} s", age.as_secs()));
            }
        }
        Ok(())
    }

    pub fn readyz(&self, now: Timestamp) -> Result<(), String> {
        self.healthz(now)?;
        let parts = self.parts();
        for (name, watch) in &parts.watches {
            if !watch.synced {
                return Err(format!("the list of {name} is not complete"));
            }
            if watch.failing_since.is_some_and(|since| now.duration_since(since) > BLIND) {
                return Err(format!("the watch of {name} fails"));
            }
        }
        match parts.reached {
            Some(at) if now.duration_since(at) <= OUT_OF_REACH => Ok(()),
            _ => Err("the API server does not answer".to_owned()),
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
    fn a_replica_is_ready_once_it_has_seen_the_cluster_and_while_it_reaches_it() {
        let health = Health::new(at(0));
        health.expect("NodeClaims");
        assert_eq!(health.healthz(at(1)), Ok(()));
        assert_eq!(health.readyz(at(1)).unwrap_err(), "the list of NodeClaims is not complete");
        health.watched("NodeClaims", true);
        assert_eq!(health.readyz(at(1)).unwrap_err(), "the API server does not answer");
        health.lease_beat(at(1), true);
        assert_eq!(health.readyz(at(2)), Ok(()));
        health.failed("NodeClaims", at(2));
        health.lease_beat(at(50), true);
        assert!(health.loop_beat(at(50)));
        assert_eq!(health.readyz(at(50)), Ok(()));
        assert_eq!(health.readyz(at(63)).unwrap_err(), "the watch of NodeClaims fails");
        health.watched("NodeClaims", false);
        health.lease_beat(at(100), true);
        assert!(health.loop_beat(at(100)));
        assert_eq!(health.readyz(at(110)), Ok(()), "the watch works again");
        health.failed("NodeClaims", at(110));
        health.lease_beat(at(160), true);
        assert_eq!(health.readyz(at(160)), Ok(()), "its last failure is too recent");
    }

    #[test]
    fn a_part_that_stands_still_is_not_healthy() {
        let health = Health::new(at(0));
        health.lease_beat(at(50), false);
        assert_eq!(health.healthz(at(61)).unwrap_err(), "the loop stands still since 61 s");
        assert!(health.loop_beat(at(61)));
        assert_eq!(health.healthz(at(62)), Ok(()));
        health.broken("a watch has ended");
        assert_eq!(health.healthz(at(62)).unwrap_err(), "a watch has ended");
    }
}
