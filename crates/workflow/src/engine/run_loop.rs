use jiff::Timestamp;
use thiserror::Error;

use super::workflow::{Context, View as _, Workflow};
use super::world::{AppendError, World};
use crate::engine::decision::{Decision, Stop, StopKind, Unknown};
use crate::journal::{Entry, JournalError, Phase, Run};
use crate::model::document::Session as _;
use crate::model::effect::Effect as _;
use crate::model::types::{Reason as _, Step as _};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome<W: Workflow> {
    Finished(W::Finish),
    Resumable { reason: W::Reason, message: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RunError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Append(#[from] AppendError),
    #[error("one decision needs too many reads; this is a defect")]
    TooManyRounds,
    #[error("{0} was not read; this is a defect")]
    NotRead(String),
}

/// Drives a run until it stops.
pub async fn run<W: Workflow>(
    world: &mut impl World<W>,
    terms: &W::Terms,
    run: Run<W>,
) -> Result<RunOutcome<W>, RunError> {
    let view = W::View::default();
    let mut engine = Engine { view_seq: run.seq, run, view, terms };
    loop {
        if let Phase::Finished(finish) = engine.run.phase {
            return Ok(RunOutcome::Finished(finish));
        }
        let decision = engine.decide(world).await?;
        let decision = engine.limit(decision, world.now(), world.interrupted());
        world.progress(&engine.run, &decision);
        if let Some(outcome) = engine.execute(world, decision).await? {
            return Ok(outcome);
        }
    }
}

struct Engine<'a, W: Workflow> {
    terms: &'a W::Terms,
    run: Run<W>,
    view: W::View,
    view_seq: u64,
}

impl<W: Workflow> Engine<'_, W> {
    fn context(&self, now: Timestamp) -> Context<'_, W> {
        let Self { terms, run, view, view_seq, .. } = self;
        Context { terms, run, view, view_seq: *view_seq, now }
    }

    /// Completes the view and decides.
    async fn decide(&mut self, world: &mut impl World<W>) -> Result<Decision<W>, RunError> {
        for round in 0.. {
            if let Some(stop) = world.halted() {
                return Ok(Decision::Stop(stop));
            }
            // The same time for both, so that they agree on what is due.
            let cx = self.context(world.now());
            let mut missing = W::queries(&cx);
            missing.retain(|query| !self.view.has(query));
            if missing.is_empty() {
                return W::decide(&cx).or_else(|unknown| self.without(unknown, cx.now));
            }
            if round == W::MAX_ROUNDS {
                break;
            }
            for query in missing {
                // Another query of the round may be the same.
                if !self.view.has(&query) {
                    self.view.take(world.read(&query).await);
                }
            }
        }
        Err(RunError::TooManyRounds)
    }

    /// Decides how to continue after a failed read.
    fn without(&self, unknown: Unknown<W>, now: Timestamp) -> Result<Decision<W>, RunError> {
        match unknown {
            Unknown::NotRead(query) => Err(RunError::NotRead(format!("{query:?}"))),
            Unknown::Failed(why) => {
                let until = now.checked_add(W::poll(self.terms)).unwrap_or(Timestamp::MAX);
                Ok(Decision::Wait { until, why })
            }
            Unknown::Denied(reason, message) => Ok(Decision::resumable(reason, message)),
        }
    }

    /// Applies the limits of every decision. Waits and new effects end at the deadline and when the run is interrupted.
    /// Facts, completed steps and ends are always recorded.
    fn limit(&self, decision: Decision<W>, now: Timestamp, interrupted: bool) -> Decision<W> {
        let deadline = W::deadline(self.terms, self.run.session_since());
        let waited = now.duration_since(self.run.step_since());
        let limit = W::step_limit(self.terms, self.run.step());
        match decision {
            Decision::Wait { why, .. } if now >= deadline => {
                let message = format!("deadline exceeded while waiting {why}");
                Decision::resumable(W::Reason::DEADLINE, message)
            }
            Decision::Apply(effect) if now >= deadline => {
                let message = format!("deadline exceeded before: {}", effect.key());
                Decision::resumable(W::Reason::DEADLINE, message)
            }
            Decision::Wait { why, .. } if limit.is_some_and(|limit| waited >= limit) => {
                Decision::resumable(
                    W::Reason::STEP_TIMEOUT,
                    format!("step timed out while waiting {why}"),
                )
            }
            Decision::Wait { .. } | Decision::Apply(_) if interrupted => {
                Decision::resumable(W::Reason::INTERRUPTED, "interrupted")
            }
            Decision::Apply(effect)
                if !effect.authority().is_given_by(self.run.session.approval()) =>
            {
                let message = format!("no approval covers `{}`", effect.key());
                Decision::resumable(W::Reason::NOT_APPROVED, message)
            }
            Decision::Wait { until, why } => Decision::Wait { until: until.min(deadline), why },
            other => other,
        }
    }

    async fn execute(
        &mut self,
        world: &mut impl World<W>,
        decision: Decision<W>,
    ) -> Result<Option<RunOutcome<W>>, RunError> {
        match decision {
            Decision::Refresh => self.forget(),
            Decision::Wait { until, .. } => {
                world.sleep_until(until).await;
                self.forget();
            }
            Decision::Record(fact) => {
                self.write(world, Entry::Fact(*fact)).await?;
                self.keep();
            }
            Decision::Done(evidence) => {
                // After the last step, none is complete.
                let step = self.run.step().unwrap_or(W::Step::ALL[W::Step::ALL.len() - 1]);
                self.write(world, Entry::StepDone { step, evidence }).await?;
                self.forget();
            }
            Decision::Apply(effect) => {
                let key = effect.key();
                self.write(world, Entry::Intent(effect.clone())).await?;
                let result = world.perform(&effect).await;
                self.write(world, Entry::Outcome { key, result }).await?;
                self.keep();
            }
            Decision::Finish(finish, left) => {
                self.write(world, Entry::Finished { finish, left }).await?;
            }
            Decision::Stop(Stop { kind, reason, message }) => {
                let stopped = Entry::Stopped { reason, message: message.clone() };
                self.write(world, stopped).await?;
                match kind {
                    StopKind::Resumable => {
                        return Ok(Some(RunOutcome::Resumable { reason, message }));
                    }
                    StopKind::Finished(finish, left) => {
                        self.write(world, Entry::Finished { finish, left }).await?;
                    }
                }
            }
        }
        Ok(None)
    }

    fn forget(&mut self) {
        self.view = W::View::default();
        self.view_seq = self.run.seq;
    }

    fn keep(&mut self) {
        if !self.view.keep() {
            self.view_seq = self.run.seq;
        }
    }

    async fn write(&mut self, world: &mut impl World<W>, entry: Entry<W>) -> Result<(), RunError> {
        let record = self.run.next(world.now(), entry);
        self.run.take(&record)?;
        Ok(world.append(&record, &self.run).await?)
    }
}
