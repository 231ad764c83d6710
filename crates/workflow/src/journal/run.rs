//! A workflow, a run of it, and the changes that the run takes: their types need each other, so they share a file.

use std::collections::BTreeMap;
use std::fmt::Debug;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use thiserror::Error;

use crate::approval::Approval;
use crate::model::effect::{Authority, Backup, EffectResult};
use crate::model::report::{
    EffectStatus, Finish, OverrideStatus, Reason, Remaining, StepInfo, Subject,
};

/// Changes after which a stored run leaves an attempt out, unless its effect lasts.
const ATTEMPT_WINDOW: u64 = 1_000;

/// A journal that cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JournalError {
    #[error("the document of the run is invalid: {0}")]
    Unreadable(String),
    /// Written by an unknown version.
    #[error("the document of the run has the schema '{0}'; this version supports {1}")]
    Schema(String, &'static str),
    #[error("change {0} of the run is out of place: {1}")]
    OutOfPlace(u64, &'static str),
}

/// The data of a workflow, and pure functions over it.
pub trait Workflow: Clone + PartialEq + Debug + Sized + 'static {
    /// The only schema that this version writes and reads.
    const SCHEMA: &'static str;
    /// All steps, in order: one list drives plan, execution, progress and report.
    const STEPS: &'static [Self::Step];

    /// Parameters of a process that starts, resumes or rolls back a run. Only the process that wrote them acts on them; to the
    /// next process they are evidence.
    type Session: Clone + PartialEq + Debug + Serialize + DeserializeOwned;
    type Step: Copy + Ord + Debug + Serialize + DeserializeOwned + 'static;
    /// A change outside the process.
    type Effect: Clone + PartialEq + Debug + Serialize + DeserializeOwned;
    /// What a run records in addition to steps and effects.
    type Facts: Clone + PartialEq + Debug + Serialize + DeserializeOwned;

    fn approval(session: &Self::Session) -> &Approval;
    /// Returns true if steps that were completed under `earlier` remain completed.
    fn continues(session: &Self::Session, earlier: &Self::Session) -> bool;
    /// Returns the facts of a run that starts with this session.
    fn facts(session: &Self::Session) -> Self::Facts;
    /// Updates the facts from a change; the common part of `run` is up to date.
    fn fold(_: &mut Run<Self>, _: &Entry<Self>, _: Timestamp) {}
    /// Returns the time of a deletion that counts against the next run.
    fn deleted(_: &Run<Self>) -> Option<Timestamp> {
        None
    }

    fn about(step: Self::Step) -> StepInfo;
    /// Returns the first step that cannot be rolled back; none if no step can.
    fn point_of_no_return() -> Option<Self::Step> {
        None
    }

    /// Returns a name of the effect and its object that is the same for every attempt.
    fn key(effect: &Self::Effect) -> String;
    fn authority(effect: &Self::Effect) -> Authority;
    /// Returns true if later decisions depend on its attempts, however long ago they were.
    fn lasts(_: &Self::Effect) -> bool {
        false
    }
    /// Returns the copy that must exist before the intent is written.
    fn backup(_: &Self::Effect) -> Option<&Backup> {
        None
    }
    fn describe(effect: &Self::Effect, result: Option<&EffectResult>) -> EffectStatus;

    /// Returns what a run changes.
    fn subject(run: &Run<Self>) -> Subject;
    /// Returns the value of `--plan-hash`.
    fn plan_hash(run: &Run<Self>) -> String;
    /// Returns true if the run can only continue.
    fn is_past_return(run: &Run<Self>) -> bool;
    fn finished_state(run: &Run<Self>, finish: Finish) -> &'static str;
    fn overrides(_: &Run<Self>) -> Vec<OverrideStatus> {
        Vec::new()
    }
    /// Returns what is lost, kept or left.
    fn remaining(run: &Run<Self>) -> Vec<Remaining> {
        run.left.clone()
    }
}

/// Returns the position of a step, from 1.
pub fn number<W: Workflow>(step: W::Step) -> usize {
    W::STEPS.iter().position(|one| *one == step).map_or(0, |at| at + 1)
}

/// New facts of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Note<W: Workflow> {
    pub facts: W::Facts,
    /// The copy of an object that must exist first.
    pub backup: Option<Backup>,
    /// What operators are told; empty if nothing.
    pub text: String,
}

/// A change of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry<W: Workflow> {
    Resumed(Box<W::Session>),
    AbortStarted(Box<W::Session>),
    /// Written before an effect.
    Intent(Box<W::Effect>),
    /// The result of the last intent.
    Outcome {
        key: String,
        result: EffectResult,
    },
    StepDone {
        step: W::Step,
        evidence: Vec<String>,
    },
    /// The run stopped before its end.
    Stopped {
        reason: Reason,
        message: String,
    },
    Finished {
        finish: Finish,
        left: Vec<Remaining>,
    },
    Note(Box<Note<W>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    Running,
    Aborting,
    Finished(Finish),
}

/// All attempts of one effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt<E> {
    /// The effect of the last attempt.
    pub effect: E,
    pub count: u32,
    /// Time of the first attempt.
    pub first: Timestamp,
    /// Time of the last attempt or its result.
    pub at: Timestamp,
    /// The change of the last attempt or its result.
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

/// A completed step with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedStep<S> {
    pub step: S,
    pub at: Timestamp,
    pub evidence: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "camelCase")]
pub struct Run<W: Workflow> {
    pub id: String,
    pub session: W::Session,
    pub phase: Phase,
    /// Remaining resources, once it is finished.
    pub left: Vec<Remaining>,
    /// Completed steps, in order.
    pub done: Vec<CompletedStep<W::Step>>,
    #[serde(serialize_with = "recent::<W, _>")]
    pub attempts: BTreeMap<String, Attempt<W::Effect>>,
    pub facts: W::Facts,
    pub started: Timestamp,
    /// Time of the last change.
    pub last: Timestamp,
    /// Message of the last stop.
    pub stopped: Option<String>,
    /// The number of the last change.
    pub seq: u64,
    step_since: (Timestamp, u64),
    session_since: (Timestamp, u64),
    /// The effect without a result.
    open: Option<String>,
}

/// Stores the recent attempts, and those whose effects last: a drain of a large pool has thousands.
fn recent<W: Workflow, S: Serializer>(
    attempts: &BTreeMap<String, Attempt<W::Effect>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let newest = attempts.values().map(|attempt| attempt.seq).max().unwrap_or_default();
    serializer.collect_map(attempts.iter().filter(|(_, attempt)| {
        W::lasts(&attempt.effect) || newest.saturating_sub(attempt.seq) < ATTEMPT_WINDOW
    }))
}

impl<W: Workflow> Run<W> {
    /// Starts a run.
    pub fn begin(id: &str, session: W::Session, at: Timestamp) -> Self {
        Self {
            id: id.to_owned(),
            facts: W::facts(&session),
            session,
            phase: Phase::Running,
            left: Vec::new(),
            done: Vec::new(),
            attempts: BTreeMap::new(),
            started: at,
            last: at,
            stopped: None,
            seq: 0,
            step_since: (at, 0),
            session_since: (at, 0),
            open: None,
        }
    }

    /// Ensures that a stored run is one that its changes can make.
    pub(super) fn verify(&self) -> Result<(), &'static str> {
        if !self
            .done
            .iter()
            .map(|done| done.step)
            .eq(W::STEPS.iter().copied().take(self.done.len()))
        {
            return Err("its steps are out of order");
        }
        if self.open.as_ref().is_some_and(|open| !self.attempts.contains_key(open)) {
            return Err("its last effect is missing");
        }
        if self.attempts.values().any(|attempt| attempt.seq > self.seq) {
            return Err("an effect is newer than the run");
        }
        if self.attempts.iter().any(|(key, attempt)| *key != W::key(&attempt.effect)) {
            return Err("an effect has the name of another one");
        }
        Ok(())
    }

    /// Applies a change; the time is by the writer's clock.
    pub fn change(&mut self, at: Timestamp, entry: &Entry<W>) -> Result<(), JournalError> {
        let here = (at, self.seq.saturating_add(1));
        let misplaced = |why| Err(JournalError::OutOfPlace(here.1, why));
        if self.is_finished() {
            return misplaced("the run is finished");
        }
        (self.last, self.seq) = here;
        match entry {
            Entry::Resumed(session) => self.start_session(session, here),
            Entry::AbortStarted(session) => {
                self.phase = Phase::Aborting;
                self.start_session(session, here);
            }
            Entry::Intent(effect) => self.intend(effect, here),
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
                let (step, evidence) = (*step, evidence.clone());
                self.done.push(CompletedStep { step, at, evidence });
                self.step_since = here;
            }
            Entry::Stopped { reason, message } => {
                self.stopped = Some(message.clone());
                if *reason == Reason::NotUndoable {
                    self.phase = Phase::Running;
                }
            }
            Entry::Finished { finish, left } => {
                self.phase = Phase::Finished(*finish);
                self.left.clone_from(left);
            }
            Entry::Note(note) => self.facts.clone_from(&note.facts),
        }
        W::fold(self, entry, at);
        Ok(())
    }

    fn start_session(&mut self, session: &W::Session, here: (Timestamp, u64)) {
        if !W::continues(session, &self.session) {
            self.done.clear();
        }
        self.session = session.clone();
        self.stopped = None;
        self.session_since = here;
        self.step_since = here;
    }

    fn intend(&mut self, effect: &W::Effect, (at, seq): (Timestamp, u64)) {
        let key = W::key(effect);
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
        W::STEPS.get(self.done.len()).copied()
    }

    /// Returns `step 4/16 create-temporary`, `rollback` or `end`.
    pub fn position(&self) -> String {
        match self.step() {
            _ if self.phase == Phase::Aborting => "rollback".to_owned(),
            Some(step) => {
                format!("step {}/{} {}", number::<W>(step), W::STEPS.len(), W::about(step).name)
            }
            None => "end".to_owned(),
        }
    }

    pub fn has_done(&self, step: W::Step) -> bool {
        self.done.iter().any(|done| done.step == step)
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
