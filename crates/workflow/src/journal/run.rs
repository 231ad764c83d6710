//! A run as its records describe it.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::record::{Entry, Record};
use super::text::{JournalError, verify};
use crate::model::document::Session as _;
use crate::model::effect::{Effect as _, EffectResult};
use crate::model::types::{Reason as _, Step as _, Types};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase<F> {
    Running,
    Aborting,
    Finished(F),
}

/// All attempts of one effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt<E> {
    /// The effect of the last attempt.
    pub effect: E,
    pub count: u32,
    /// Time of the first attempt.
    pub first: Timestamp,
    /// Time of the last attempt or its result.
    pub at: Timestamp,
    /// The record of the last attempt or its result.
    pub seq: u64,
    /// The result; none if the process died before it was written.
    pub result: Option<EffectResult>,
    /// The token of the last operation that was accepted.
    pub token: Option<String>,
    /// An earlier attempt may have been accepted.
    pub landed: bool,
}

impl<E> Attempt<E> {
    /// Returns false only if the service refused every attempt.
    pub fn may_have_happened(&self) -> bool {
        self.landed || !matches!(self.result, Some(EffectResult::Refused { .. }))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Run<W: Types> {
    pub id: String,
    pub session: W::Session,
    pub phase: Phase<W::Finish>,
    /// Remaining resources, once it is finished.
    pub left: Vec<W::Leftover>,
    /// Completed steps with evidence.
    pub done: Vec<(W::Step, Vec<String>)>,
    pub attempts: BTreeMap<String, Attempt<W::Effect>>,
    pub facts: W::Facts,
    pub started: Timestamp,
    /// The number of the last record.
    pub seq: u64,
    step_since: (Timestamp, u64),
    session_since: (Timestamp, u64),
    /// The effect without a result.
    open: Option<String>,
}

/// The workflow's part of a replay.
pub trait Replay: Types {
    /// Returns the facts of a run that starts with this session.
    fn facts(session: &Self::Session) -> Self::Facts;

    /// Updates the facts from a record; the common part of `run` is up to date.
    fn fold(run: &mut Run<Self>, entry: &Entry<Self>, at: Timestamp);
}

impl<W: Replay> Run<W> {
    /// Returns the last run; none if the journal has no run.
    pub fn replay(records: &[Record<Entry<W>>]) -> Result<Option<Self>, JournalError> {
        verify(records)?;
        let mut last: Option<Self> = None;
        for record in records {
            match (&record.entry, &mut last) {
                (Entry::RunStarted(_), Some(last)) if !last.is_finished() => {
                    let why = "another run is unfinished";
                    return Err(JournalError::OutOfPlace(record.seq, why));
                }
                (Entry::RunStarted(session), _) => last = Some(Self::begin(record, session)),
                (_, Some(last)) if last.id == record.run => last.take(record)?,
                (_, Some(_)) => {
                    return Err(JournalError::OutOfPlace(record.seq, "it belongs to another run"));
                }
                // The rest of a finished run whose start was dropped.
                (_, None) => {}
            }
        }
        Ok(last)
    }

    fn begin(record: &Record<Entry<W>>, session: &W::Session) -> Self {
        Self {
            id: record.run.clone(),
            session: session.clone(),
            phase: Phase::Running,
            left: Vec::new(),
            done: Vec::new(),
            attempts: BTreeMap::new(),
            facts: W::facts(session),
            started: record.at,
            seq: record.seq,
            step_since: (record.at, record.seq),
            session_since: (record.at, record.seq),
            open: None,
        }
    }

    /// Applies the next record.
    pub fn take(&mut self, record: &Record<Entry<W>>) -> Result<(), JournalError> {
        let misplaced = |why| Err(JournalError::OutOfPlace(record.seq, why));
        if self.is_finished() {
            return misplaced("the run is finished");
        }
        let here = (record.at, record.seq);
        self.seq = record.seq;
        match &record.entry {
            Entry::RunStarted(_) => return misplaced("the run has started"),
            Entry::Resumed(session) => self.start_session(session, here),
            Entry::AbortStarted(session) => {
                self.phase = Phase::Aborting;
                self.start_session(session, here);
            }
            Entry::Intent { effect, .. } => self.intend(effect, here),
            Entry::Outcome { key, result } => {
                if self.open.take().as_ref() != Some(key) {
                    return misplaced("it has no intent");
                }
                if let Some(attempt) = self.attempts.get_mut(key) {
                    if let EffectResult::Started { token } = result {
                        attempt.token = Some(token.clone());
                    }
                    (attempt.at, attempt.seq) = here;
                    attempt.result = Some(result.clone());
                }
            }
            Entry::StepDone { step, evidence } => {
                if self.step() != Some(*step) {
                    return misplaced("another step is current");
                }
                self.done.push((*step, evidence.clone()));
                self.step_since = here;
            }
            Entry::Stopped { reason, .. } => {
                if reason.ends_rollback() {
                    self.phase = Phase::Running;
                }
            }
            Entry::Finished { finish, left } => {
                self.phase = Phase::Finished(*finish);
                self.left.clone_from(left);
            }
            Entry::Fact(_) => {}
        }
        W::fold(self, &record.entry, record.at);
        Ok(())
    }

    fn start_session(&mut self, session: &W::Session, here: (Timestamp, u64)) {
        if !session.continues(&self.session) {
            self.done.clear();
        }
        self.session = session.clone();
        self.session_since = here;
        self.step_since = here;
    }

    fn intend(&mut self, effect: &W::Effect, (at, seq): (Timestamp, u64)) {
        let key = effect.key();
        let attempt = self.attempts.entry(key.clone()).or_insert_with(|| Attempt {
            effect: effect.clone(),
            count: 0,
            first: at,
            at,
            seq,
            result: None,
            token: None,
            landed: false,
        });
        attempt.landed |= attempt.count > 0 && attempt.may_have_happened();
        attempt.count = attempt.count.saturating_add(1);
        attempt.effect = effect.clone();
        (attempt.at, attempt.seq) = (at, seq);
        attempt.result = None;
        self.open = Some(key);
    }

    pub fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Finished(_))
    }

    /// Returns the current step; none if all are complete.
    pub fn step(&self) -> Option<W::Step> {
        match self.done.last() {
            None => W::Step::ALL.first().copied(),
            Some((last, _)) => last.following(),
        }
    }

    /// Returns `step 4/16 create-temporary`, `rollback` or `end`.
    pub fn position(&self) -> String {
        match self.step() {
            _ if self.phase == Phase::Aborting => "rollback".to_owned(),
            Some(step) => format!("step {}/{} {}", step.number(), W::Step::ALL.len(), step.name()),
            None => "end".to_owned(),
        }
    }

    pub fn has_done(&self, step: W::Step) -> bool {
        self.done.iter().any(|(done, _)| *done == step)
    }

    pub fn attempt(&self, key: &str) -> Option<&Attempt<W::Effect>> {
        self.attempts.get(key)
    }

    /// Returns the start of the current step in the last session.
    pub fn step_since(&self) -> Timestamp {
        self.step_since.0
    }

    /// Returns the start of the last session, by the clock of its process.
    pub fn session_since(&self) -> Timestamp {
        self.session_since.0
    }

    /// Returns true if the step or session started after the attempt, regardless of clocks.
    pub fn is_before_step(&self, attempt: &Attempt<W::Effect>) -> bool {
        attempt.seq < self.step_since.1
    }

    /// Returns true if the session started after the attempt: an operator requested another one.
    pub fn is_before_session(&self, attempt: &Attempt<W::Effect>) -> bool {
        attempt.seq < self.session_since.1
    }
}
