//! The Lease and failure record of version 0.1.0. Both are read, respected and taken over; neither is written.

use jiff::{SignedDuration, Timestamp};

use mooring_kube::lease::{Candidate, Lease, LeaseStep, Times};

pub const NAMESPACE: &str = "kube-system";

/// A Lease whose renewal time is older than this is not held, allowing for clock skew.
const STALE_AFTER: SignedDuration = SignedDuration::from_mins(5);

#[derive(Debug)]
pub(crate) struct OldLease {
    observed: Candidate,
}

impl OldLease {
    pub(crate) fn new(me: &str, times: Times) -> Self {
        Self { observed: Candidate::new(me, times) }
    }

    /// Returns true if a controller holds the Lease, or may still: one that has not renewed it for its
    /// duration does not.
    pub(crate) fn is_held(&mut self, lease: Option<&Lease>, now: Timestamp) -> bool {
        let Some(lease) = lease else { return false };
        let renewed = lease.renewed.parse::<Timestamp>();
        if renewed.is_ok_and(|renewed| now.duration_since(renewed) > STALE_AFTER) {
            return false;
        }
        self.observed.decide(Some(lease), now) == LeaseStep::Wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn lease(holder: &str, renewed: i64) -> Lease {
        Lease {
            holder: holder.into(),
            renewed: format!("{:.6}", at(renewed)),
            seconds: Some(15),
            ..Lease::default()
        }
    }

    #[test]
    fn old_lease_is_respected_until_it_expires() {
        let mut old = OldLease::new("new-1", Times::default());
        assert!(!old.is_held(None, at(0)));
        assert!(old.is_held(Some(&lease("old-1", 0)), at(0)));
        assert!(old.is_held(Some(&lease("old-1", 2)), at(14)));
        assert!(old.is_held(Some(&lease("old-1", 2)), at(28)));
        assert!(!old.is_held(Some(&lease("old-1", 2)), at(29)));
        // It is renewed again.
        assert!(old.is_held(Some(&lease("old-1", 30)), at(31)));
        assert!(!old.is_held(Some(&lease("", 32)), at(33)));
    }

    #[test]
    fn lease_of_a_removed_controller_is_not_waited_for() {
        let mut old = OldLease::new("new-1", Times::default());
        assert!(!old.is_held(Some(&lease("old-1", 0)), at(301)));
        assert!(old.is_held(Some(&lease("old-1", 0)), at(299)));
    }
}
