//! The state of a run, from its document and its lock: `status` shows the same on any host.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::published::Evidence;
use crate::journal::{Phase, Run, Workflow, number};
pub use crate::model::report::{EffectStatus, OverrideStatus, Remaining, Subject};
use crate::store::lock::Lock;

/// State of an unfinished run. Each workflow has its own names for finished ones.
pub const RUNNING: &str = "running";
pub const ROLLING_BACK: &str = "rolling-back";
/// No process runs it, and it can be resumed.
pub const STOPPED: &str = "stopped";

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStatus {
    #[serde(flatten)]
    pub subject: Subject,
    pub run_id: String,
    pub state: &'static str,
    pub journal: String,
    pub plan_hash: String,
    pub started_at: Timestamp,
    /// Time of the last change.
    pub last_at: Timestamp,
    /// Estimated end; none if it does not run.
    pub ends_at: Option<Timestamp>,
    /// None if it is finished or rolled back.
    pub step: Option<CurrentStep>,
    pub step_count: usize,
    pub steps: Vec<DoneStep>,
    pub point_of_no_return: Option<PointOfNoReturn>,
    /// The last attempts of recent changes in order, including failed ones.
    pub effects: Vec<EffectStatus>,
    pub overrides: Vec<OverrideStatus>,
    pub remaining: Vec<Remaining>,
    /// Message of the last stop.
    pub stopped: Option<String>,
    pub lock: Option<LockStatus>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CurrentStep {
    pub number: usize,
    pub name: &'static str,
    pub started_at: Timestamp,
    pub seconds: i64,
    pub expected_seconds: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DoneStep {
    pub number: usize,
    pub name: &'static str,
    pub done_at: Timestamp,
    /// Time since the step before, or since the start of the run.
    pub seconds: i64,
    pub evidence: Vec<Evidence>,
}

/// The step from which on a run can only continue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PointOfNoReturn {
    pub number: usize,
    pub name: &'static str,
    pub is_passed: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LockStatus {
    pub host: String,
    pub pid: u32,
    pub heartbeat_at: Timestamp,
    pub is_expired: bool,
}

impl LockStatus {
    pub fn new(lock: &Lock, now: Timestamp) -> Self {
        Self {
            host: lock.owner.host.clone(),
            pid: lock.owner.pid,
            heartbeat_at: lock.heartbeat,
            is_expired: lock.looks_expired(now),
        }
    }
}

impl RunStatus {
    /// Returns the status of a run in the journal at `place`.
    pub fn new<W: Workflow>(
        run: &Run<W>,
        place: String,
        lock: Option<&Lock>,
        now: Timestamp,
    ) -> Self {
        let lock = lock.map(|lock| LockStatus::new(lock, now));
        let is_driven = lock.as_ref().is_some_and(|lock| !lock.is_expired);
        let (state, step) = match run.phase {
            Phase::Finished(finish) => (W::finished_state(run, finish), None),
            Phase::Aborting if is_driven => (ROLLING_BACK, None),
            Phase::Aborting => (STOPPED, None),
            Phase::Running => (if is_driven { RUNNING } else { STOPPED }, run.step()),
        };
        let mut since = run.started;
        let steps = run.done.iter().map(|done| {
            let seconds = done.at.duration_since(since).as_secs().max(0);
            since = done.at;
            DoneStep {
                number: number::<W>(done.step),
                name: W::about(done.step).name,
                done_at: done.at,
                seconds,
                evidence: Evidence::list(&done.evidence, None),
            }
        });
        let mut attempts: Vec<_> = run.attempts.values().collect();
        attempts.sort_by_key(|attempt| attempt.seq);
        Self {
            steps: steps.collect(),
            subject: W::subject(run),
            run_id: run.id.clone(),
            state,
            journal: place,
            plan_hash: W::plan_hash(run),
            started_at: run.started,
            last_at: run.last,
            ends_at: step.filter(|_| state == RUNNING).and_then(|step| ends::<W>(run, step, now)),
            step: step.map(|step| CurrentStep {
                number: number::<W>(step),
                name: W::about(step).name,
                started_at: run.step_since(),
                seconds: now.duration_since(run.step_since()).as_secs().max(0),
                expected_seconds: W::about(step).expected_seconds,
            }),
            step_count: W::STEPS.len(),
            point_of_no_return: W::point_of_no_return().map(|step| PointOfNoReturn {
                number: number::<W>(step),
                name: W::about(step).name,
                is_passed: W::is_past_return(run),
            }),
            effects: attempts
                .into_iter()
                .map(|attempt| EffectStatus {
                    at: Some(attempt.at),
                    ..W::describe(&attempt.effect, attempt.result.as_ref())
                })
                .collect(),
            overrides: W::overrides(run),
            remaining: W::remaining(run),
            stopped: run.stopped.clone(),
            lock,
        }
    }

    pub fn is_running(&self) -> bool {
        matches!(self.state, RUNNING | ROLLING_BACK)
    }

    /// Returns true if the run is unfinished and no process runs it.
    pub fn is_stopped(&self) -> bool {
        self.state == STOPPED
    }

    /// Returns the seconds from the start to the last change, or to `now` while it runs.
    pub fn elapsed(&self, now: Timestamp) -> i64 {
        let end = if self.is_running() { now } else { self.last_at };
        end.duration_since(self.started_at).as_secs().max(0)
    }
}

/// Estimates the end: the rest of the current step, and all later ones.
fn ends<W: Workflow>(run: &Run<W>, step: W::Step, now: Timestamp) -> Option<Timestamp> {
    let elapsed = now.duration_since(run.step_since()).as_secs().max(0);
    let expected = |step| W::about(step).expected_seconds.map(i64::from);
    let rest = (expected(step)? - elapsed).max(0);
    let later: Option<i64> =
        W::STEPS.iter().skip(number::<W>(step)).map(|step| expected(*step)).sum();
    now.checked_add(SignedDuration::from_secs(rest + later?)).ok()
}
