//! The loop between decisions and their effects.

use jiff::{SignedDuration, Timestamp};

use crate::journal::{Entry, Note, Phase, Run, Workflow};
use crate::model::effect::EffectResult;
use crate::model::report::{Finish, Reason, Remaining};
use crate::store::error::StoreError;

/// What a run does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision<W: Workflow> {
    /// The step is complete; the texts are evidence for the journal.
    Done(Vec<String>),
    Note(Box<Note<W>>),
    /// Record the intent, perform the effect, record its result.
    Apply(Box<W::Effect>),
    /// Wait until then, and read again.
    Wait {
        until: Timestamp,
        why: String,
    },
    /// Read again.
    Refresh,
    Finish(Finish, Vec<Remaining>),
    Stop(Stop),
}

/// A stop. `resume` continues the run unless it has ended, and then nothing that it changed needs another run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    pub reason: Reason,
    /// The reason, for operators.
    pub message: String,
    pub end: Option<(Finish, Vec<Remaining>)>,
}

impl<W: Workflow> Decision<W> {
    pub fn resumable(reason: Reason, message: impl Into<String>) -> Self {
        Self::Stop(Stop { reason, message: message.into(), end: None })
    }

    /// Returns the decision unless the step is complete.
    #[must_use]
    pub fn unless_done(self) -> Option<Self> {
        if matches!(self, Self::Done(_)) { None } else { Some(self) }
    }

    /// Adds earlier evidence to that of a complete step.
    #[must_use]
    pub fn after(self, mut earlier: Vec<String>) -> Self {
        match self {
            Self::Done(evidence) => {
                earlier.extend(evidence);
                Self::Done(earlier)
            }
            other => other,
        }
    }
}

/// What a decision depends on could not be read: it is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRead {
    /// The read will be repeated; the text names what the run waits for.
    Failed(String),
    /// The read fails until an operator changes something.
    Denied(Reason, String),
}

/// Limits of the waits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitLimits {
    /// Deadline of the session.
    pub session: SignedDuration,
    /// Deadline of the step; none if it limits its waits itself.
    pub step: Option<SignedDuration>,
    /// Pause after a failed read.
    pub poll: SignedDuration,
}

/// The cluster of a run: decides from what it reads, and changes it. Reads are kept for one decision.
#[expect(async_fn_in_trait, reason = "one task drives a run; nothing goes to another thread")]
pub trait Cluster<W: Workflow> {
    async fn next(&mut self, run: &Run<W>) -> Result<Decision<W>, NotRead>;
    async fn perform(&mut self, effect: &W::Effect) -> EffectResult;
    fn limits(&self, step: Option<W::Step>) -> WaitLimits;
}

/// The process of a run: its clock, its document and its signals.
///
/// Dropping a future must be like killing the process: nothing runs afterward.
#[expect(async_fn_in_trait, reason = "one task drives a run; nothing goes to another thread")]
pub trait Host<W: Workflow> {
    fn now(&self) -> Timestamp;
    async fn sleep_until(&mut self, until: Timestamp);
    /// Stores the run after a change durably, unless another process has stored it since.
    async fn append(&mut self, entry: &Entry<W>, run: &Run<W>) -> Result<(), StoreError>;
    /// Returns true if the run must stop where it can be resumed.
    fn interrupted(&self) -> bool;
    fn progress(&mut self, run: &Run<W>, decision: &Decision<W>);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome {
    Finished(Finish),
    Resumable { reason: Reason, message: String },
}

/// Drives a run until it stops.
pub async fn run<W: Workflow>(
    host: &mut impl Host<W>,
    cluster: &mut impl Cluster<W>,
    mut run: Run<W>,
) -> Result<RunOutcome, StoreError> {
    loop {
        if let Phase::Finished(finish) = run.phase {
            return Ok(RunOutcome::Finished(finish));
        }
        let limits = cluster.limits(run.step());
        let decision = match cluster.next(&run).await {
            Ok(decision) => decision,
            Err(NotRead::Failed(why)) => {
                Decision::Wait { until: after(host.now(), limits.poll), why }
            }
            Err(NotRead::Denied(reason, message)) => Decision::resumable(reason, message),
        };
        let decision = limit(&run, decision, limits, host.now(), host.interrupted());
        host.progress(&run, &decision);
        match decision {
            Decision::Refresh => {}
            Decision::Wait { until, .. } => host.sleep_until(until).await,
            Decision::Note(note) => write(host, &mut run, Entry::Note(note)).await?,
            Decision::Done(evidence) => {
                // After the last step, none is complete.
                let step = run.step().unwrap_or(W::STEPS[W::STEPS.len() - 1]);
                write(host, &mut run, Entry::StepDone { step, evidence }).await?;
            }
            Decision::Apply(effect) => {
                let key = W::key(&effect);
                write(host, &mut run, Entry::Intent(effect.clone())).await?;
                let result = cluster.perform(&effect).await;
                write(host, &mut run, Entry::Outcome { key, result }).await?;
            }
            Decision::Finish(finish, left) => {
                write(host, &mut run, Entry::Finished { finish, left }).await?;
            }
            Decision::Stop(Stop { reason, message, end }) => {
                let stopped = Entry::Stopped { reason, message: message.clone() };
                write(host, &mut run, stopped).await?;
                let Some((finish, left)) = end else {
                    return Ok(RunOutcome::Resumable { reason, message });
                };
                write(host, &mut run, Entry::Finished { finish, left }).await?;
            }
        }
    }
}

fn after(now: Timestamp, pause: SignedDuration) -> Timestamp {
    now.checked_add(pause).unwrap_or(Timestamp::MAX)
}

/// Applies the limits of every decision. Waits and new effects end at the deadline and when the run is interrupted. Facts,
/// completed steps and ends are always recorded.
fn limit<W: Workflow>(
    run: &Run<W>,
    decision: Decision<W>,
    limits: WaitLimits,
    now: Timestamp,
    interrupted: bool,
) -> Decision<W> {
    let deadline = after(run.session_since(), limits.session);
    let waited = now.duration_since(run.step_since());
    match decision {
        Decision::Wait { why, .. } if now >= deadline => {
            Decision::resumable(Reason::Deadline, format!("deadline exceeded while waiting {why}"))
        }
        Decision::Apply(effect) if now >= deadline => {
            let message = format!("deadline exceeded before: {}", W::key(&effect));
            Decision::resumable(Reason::Deadline, message)
        }
        Decision::Wait { why, .. } if limits.step.is_some_and(|limit| waited >= limit) => {
            let message = format!("step timed out while waiting {why}");
            Decision::resumable(Reason::StepTimeout, message)
        }
        Decision::Wait { .. } | Decision::Apply(_) if interrupted => {
            Decision::resumable(Reason::Interrupted, "interrupted")
        }
        Decision::Apply(effect)
            if !W::authority(&effect).is_given_by(W::approval(&run.session)) =>
        {
            let message = format!("no approval covers `{}`", W::key(&effect));
            Decision::resumable(Reason::NotApproved, message)
        }
        Decision::Wait { until, why } => Decision::Wait { until: until.min(deadline), why },
        other => other,
    }
}

async fn write<W: Workflow>(
    host: &mut impl Host<W>,
    run: &mut Run<W>,
    entry: Entry<W>,
) -> Result<(), StoreError> {
    run.change(host.now(), &entry)?;
    host.append(&entry, run).await
}
