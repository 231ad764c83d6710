//! Leases, and the gate that is open while one is held.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// Durations of leader election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Others may acquire the Lease this long after its last renewal.
    pub lease: Duration,
    /// The holder stops writing this long after its last renewal; shorter than `lease`.
    pub renew: Duration,
    pub retry: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(15),
            renew: Duration::from_secs(10),
            retry: Duration::from_secs(2),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Lease {
    pub resource_version: String,
    /// The holder's identity; empty if it is free.
    pub holder: String,
    pub transitions: i64,
    /// Time of acquisition, as written.
    pub acquired: String,
    /// Time of the last renewal, as written; only compared with itself.
    pub renewed: String,
    pub seconds: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseStep {
    Create,
    Acquire,
    Renew,
    Wait,
    /// Another process holds the Lease now: stop writing immediately.
    StepDown,
}

/// State of one process in the election.
#[derive(Clone, Debug)]
pub struct Candidate {
    me: String,
    times: Times,
    /// Holder and renewal as last read, and the time of the first such read.
    seen: Option<(String, String, Timestamp)>,
    /// Time at which the last confirmed renewal was *sent*.
    held_since_request: Option<Timestamp>,
}

impl Candidate {
    pub fn new(me: &str, times: Times) -> Self {
        Self { me: me.to_owned(), times, seen: None, held_since_request: None }
    }

    /// Decides the next request from the Lease as it was just read.
    pub fn decide(&mut self, lease: Option<&Lease>, now: Timestamp) -> LeaseStep {
        let Some(lease) = lease else {
            self.held_since_request = None;
            return LeaseStep::Create;
        };
        if lease.holder == self.me {
            // Also after a restart under the same name: it may be renewed, but allows no write yet.
            return LeaseStep::Renew;
        }
        if self.held_since_request.take().is_some() {
            self.observe(lease, now);
            return LeaseStep::StepDown;
        }
        let first_seen = self.observe(lease, now);
        let lasts = lease.seconds.map_or(self.times.lease, Duration::from_secs);
        let expired = now.duration_since(first_seen) >= signed(lasts);
        if lease.holder.is_empty() || expired { LeaseStep::Acquire } else { LeaseStep::Wait }
    }

    fn observe(&mut self, lease: &Lease, now: Timestamp) -> Timestamp {
        match &self.seen {
            Some((holder, renewed, at)) if *holder == lease.holder && *renewed == lease.renewed => {
                *at
            }
            _ => {
                self.seen = Some((lease.holder.clone(), lease.renewed.clone(), now));
                now
            }
        }
    }

    /// Records that the API server confirmed a create, acquire or renewal that was sent at `sent`.
    pub fn confirmed(&mut self, sent: Timestamp) {
        self.held_since_request = Some(sent);
        self.seen = None;
    }

    /// Records that the Lease was released, or a write under it was rejected.
    pub fn lost(&mut self) {
        self.held_since_request = None;
    }

    /// Returns until when this process may write; none if it does not hold the Lease. Counted from the sending of the
    /// last renewal, so it ends before another process can acquire the Lease, regardless of slow responses.
    pub fn may_write_until(&self) -> Option<Timestamp> {
        self.held_since_request?.checked_add(signed(self.times.renew)).ok()
    }

    pub fn may_write(&self, now: Timestamp) -> bool {
        self.may_write_until().is_some_and(|until| now < until)
    }

    /// Returns the spec and version to write for a step, without a name.
    pub fn object(&self, lease: Option<&Lease>, now: Timestamp) -> Value {
        let mine = lease.is_some_and(|lease| lease.holder == self.me);
        let transitions = lease.map_or(0, |lease| lease.transitions + i64::from(!mine));
        let mut object = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {},
            "spec": {
                "holderIdentity": self.me,
                "leaseDurationSeconds": self.times.lease.as_secs(),
                "renewTime": format!("{now:.6}"),
                "leaseTransitions": transitions,
            },
        });
        if let Some(lease) = lease {
            object["metadata"]["resourceVersion"] = json!(lease.resource_version);
        }
        match lease.filter(|_| mine) {
            Some(lease) if lease.acquired.is_empty() => {}
            Some(lease) => object["spec"]["acquireTime"] = json!(lease.acquired),
            None => object["spec"]["acquireTime"] = json!(format!("{now:.6}")),
        }
        object
    }

    /// Returns the free Lease to write when this process ends, so that another one acquires it immediately; none if this
    /// process does not hold it.
    pub fn released(&self, lease: &Lease, now: Timestamp) -> Option<Value> {
        if lease.holder != self.me {
            return None;
        }
        let mut object = self.object(Some(lease), now);
        object["spec"]["holderIdentity"] = json!("");
        object["spec"]["leaseDurationSeconds"] = json!(1);
        Some(object)
    }
}

impl Lease {
    /// Reads the object. Missing or invalid fields count as free.
    pub fn from_value(object: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let spec = &object["spec"];
        Self {
            resource_version: text(&object["metadata"]["resourceVersion"]),
            holder: text(&spec["holderIdentity"]),
            transitions: spec["leaseTransitions"].as_i64().unwrap_or_default(),
            acquired: text(&spec["acquireTime"]),
            renewed: text(&spec["renewTime"]),
            seconds: spec["leaseDurationSeconds"].as_u64().filter(|seconds| *seconds > 0),
        }
    }
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}

/// The clock of a Lease holder.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Interval of checks for a late renewal.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Open while this process holds the Lease.
pub struct Gate {
    clock: Clock,
    term: Mutex<Term>,
}

/// The time from one acquisition of the Lease to its loss.
#[derive(Clone, Copy, Default)]
struct Term {
    number: u64,
    /// None while the gate is closed.
    until: Option<Timestamp>,
}

impl Gate {
    /// Creates a closed gate.
    pub fn new(clock: Clock) -> Self {
        Self { clock, term: Mutex::default() }
    }

    /// Opens the gate, or extends the current term. Returns the number of the term, from 1.
    pub fn open(&self, until: Timestamp) -> u64 {
        let mut term = self.term.lock().unwrap_or_else(PoisonError::into_inner);
        if term.until.is_none() {
            term.number += 1;
        }
        term.until = Some(until);
        term.number
    }

    pub fn close(&self) {
        self.term.lock().unwrap_or_else(PoisonError::into_inner).until = None;
    }

    /// Returns true if a write of this term may be sent, false after the end of the term. Waits for a late renewal.
    pub async fn allows_write(&self, number: u64) -> bool {
        loop {
            let term = *self.term.lock().unwrap_or_else(PoisonError::into_inner);
            match term.until {
                Some(until) if term.number == number && (self.clock)() < until => return true,
                Some(_) if term.number == number => tokio::time::sleep(POLL_INTERVAL).await,
                _ => return false,
            }
        }
    }
}

#[cfg(test)]
mod lease_tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn lease(holder: &str, renewed: &str) -> Lease {
        Lease {
            resource_version: "1".into(),
            holder: holder.into(),
            renewed: renewed.into(),
            acquired: "then".into(),
            seconds: Some(15),
            transitions: 3,
        }
    }

    #[test]
    fn lease_is_acquired_only_after_it_expired() {
        let mut candidate = Candidate::new("a", Times::default());
        assert_eq!(candidate.decide(None, at(0)), LeaseStep::Create);
        assert_eq!(candidate.decide(Some(&lease("b", "x")), at(0)), LeaseStep::Wait);
        assert_eq!(candidate.decide(Some(&lease("b", "x")), at(14)), LeaseStep::Wait);
        assert_eq!(candidate.decide(Some(&lease("b", "y")), at(14)), LeaseStep::Wait);
        assert_eq!(candidate.decide(Some(&lease("b", "y")), at(28)), LeaseStep::Wait);
        assert_eq!(candidate.decide(Some(&lease("b", "y")), at(29)), LeaseStep::Acquire);
        assert_eq!(candidate.decide(Some(&lease("", "z")), at(30)), LeaseStep::Acquire);
    }

    #[test]
    fn writing_ends_before_another_process_can_start() {
        let times = Times::default();
        let mut candidate = Candidate::new("a", times);
        assert!(!candidate.may_write(at(0)));
        candidate.confirmed(at(0));
        assert!(candidate.may_write(at(9)) && !candidate.may_write(at(10)));
        // Another process that reads this renewal the instant it is sent acquires the Lease no sooner than here.
        assert!(
            candidate.may_write_until().unwrap()
                < at(i64::try_from(times.lease.as_secs()).unwrap())
        );
    }

    #[test]
    fn lost_lease_stops_all_writes() {
        let mut candidate = Candidate::new("a", Times::default());
        candidate.confirmed(at(0));
        assert_eq!(candidate.decide(Some(&lease("b", "x")), at(1)), LeaseStep::StepDown);
        assert!(!candidate.may_write(at(1)));
        assert_eq!(candidate.decide(Some(&lease("b", "x")), at(2)), LeaseStep::Wait);
    }

    #[test]
    fn own_name_on_a_lease_allows_no_write_before_a_renewal() {
        let mut candidate = Candidate::new("a", Times::default());
        assert_eq!(candidate.decide(Some(&lease("a", "x")), at(0)), LeaseStep::Renew);
        assert!(!candidate.may_write(at(0)));
    }

    #[test]
    fn written_object_has_the_version_that_was_read() {
        let candidate = Candidate::new("a", Times::default());
        let taken = candidate.object(Some(&lease("b", "x")), at(0));
        assert_eq!(taken["metadata"]["resourceVersion"], "1");
        assert_eq!(taken["spec"]["leaseTransitions"], 4);
        assert_eq!(taken["spec"]["holderIdentity"], "a");
        assert_eq!(taken["spec"]["acquireTime"], "2027-01-15T08:00:00.000000Z");
        let renewed = candidate.object(Some(&lease("a", "x")), at(0));
        assert_eq!(renewed["spec"]["leaseTransitions"], 3);
        assert_eq!(renewed["spec"]["acquireTime"], "then", "a renewal keeps it");
        let read = Lease::from_value(&taken);
        assert_eq!((read.holder.as_str(), read.seconds), ("a", Some(15)));
        assert_eq!(Lease::from_value(&json!({"spec": null})), Lease::default());
    }
}

#[cfg(test)]
mod gate_tests {
    use jiff::SignedDuration;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    #[tokio::test(start_paused = true)]
    async fn writes_of_an_ended_term_are_never_allowed_again() {
        let gate = Gate::new(Arc::new(|| at(0)));
        assert!(!gate.allows_write(0).await, "closed");
        let first = gate.open(at(1));
        assert!(gate.allows_write(first).await);
        assert_eq!(gate.open(at(2)), first, "extended");
        gate.close();
        assert!(!gate.allows_write(first).await, "closed");
        let second = gate.open(at(1));
        assert!(gate.allows_write(second).await);
        assert!(!gate.allows_write(first).await, "of the ended term");
    }

    #[tokio::test(start_paused = true)]
    async fn late_renewal_is_awaited() {
        let gate = Gate::new(Arc::new(|| at(1)));
        let term = gate.open(at(1));
        let renewal = async {
            tokio::time::sleep(POLL_INTERVAL * 3).await;
            gate.open(at(2));
        };
        assert!(tokio::join!(gate.allows_write(term), renewal).0);
    }
}
