//! What the journal says.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::effect::Effect;
use super::entry::{Entry, Leftover};
use super::profile::Profile;
use super::step::Step;
use crate::approval::PlanHash;
use crate::effects::EffectResult;
use crate::journal::{JournalError, Record};
use crate::replay::{Replayed, replay};

/// What was tried for one effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Which.
    pub effect: Effect,
    /// How often.
    pub count: u32,
    /// When last.
    pub at: Timestamp,
    /// The record that said so last.
    pub seq: u64,
    /// What came of it; none if nobody lived to write it down.
    pub result: Option<EffectResult>,
}

/// A run as its records describe it. Contributes back-off, skipped objects and the current step to a run, nothing that
/// widens what it does.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The run's id.
    pub run: String,
    /// The approved plan, of the run or its last resumption.
    pub plan_hash: PlanHash,
    /// The uid of the cluster's `kube-system`.
    pub cluster: String,
    /// What was removed.
    pub profile: Profile,
    /// When it began.
    pub started: Timestamp,
    /// The number of the last record.
    pub seq: u64,
    /// Steps that came to their end, with how that was seen.
    pub done: Vec<(Step, Vec<String>)>,
    /// Effects, by key.
    pub attempts: BTreeMap<String, Attempt>,
    /// Objects that are left as they are, by path and identity, and why.
    pub spared: BTreeMap<String, String>,
    /// What is left; none if the run is not over.
    pub finished: Option<Vec<Leftover>>,
    step_since: Timestamp,
    /// When this run, or its last resumption, began, and with which record.
    session: (Timestamp, u64),
    open: Option<String>,
}

impl Replayed for State {
    type Entry = Entry;

    fn begun_by(record: &Record<Entry>) -> Option<Self> {
        let Entry::RunStarted { plan_hash, cluster, profile, .. } = &record.entry else {
            return None;
        };
        Some(Self {
            run: record.run.clone(),
            plan_hash: plan_hash.clone(),
            cluster: cluster.clone(),
            profile: (**profile).clone(),
            started: record.at,
            seq: record.seq,
            done: Vec::new(),
            attempts: BTreeMap::new(),
            spared: BTreeMap::new(),
            finished: None,
            step_since: record.at,
            session: (record.at, record.seq),
            open: None,
        })
    }

    fn run(&self) -> &str {
        &self.run
    }

    fn is_over(&self) -> bool {
        self.finished.is_some()
    }

    fn take(&mut self, record: &Record<Entry>) -> Result<(), JournalError> {
        self.take(record)
    }
}

impl State {
    /// The last run of a journal; none if there is none.
    pub fn replay(records: &[Record<Entry>]) -> Result<Option<Self>, JournalError> {
        replay(records)
    }

    /// Takes a further record in.
    pub fn take(&mut self, record: &Record<Entry>) -> Result<(), JournalError> {
        let senseless = |why| Err(JournalError::Senseless(record.seq, why));
        if self.finished.is_some() {
            return senseless("the run is over");
        }
        self.seq = record.seq;
        match &record.entry {
            Entry::RunStarted { .. } => return senseless("the run has begun"),
            Entry::Resumed { plan_hash, .. } => {
                // Every step runs again from live state: that a record calls one done shows nothing.
                self.done.clear();
                self.plan_hash = plan_hash.clone();
                self.step_since = record.at;
                self.session = (record.at, record.seq);
            }
            Entry::Intent { effect, attempt, .. } => {
                let key = effect.key();
                let attempt = Attempt {
                    effect: (**effect).clone(),
                    count: *attempt,
                    at: record.at,
                    seq: record.seq,
                    result: None,
                };
                self.attempts.insert(key.clone(), attempt);
                self.open = Some(key);
            }
            Entry::Outcome { key, result } => {
                if self.open.take().as_ref() != Some(key) {
                    return senseless("it is the outcome of nothing");
                }
                if let Some(attempt) = self.attempts.get_mut(key) {
                    attempt.at = record.at;
                    attempt.seq = record.seq;
                    attempt.result = Some(result.clone());
                }
            }
            Entry::Spared { key, why } => {
                self.spared.insert(key.clone(), why.clone());
            }
            Entry::StepDone { step, proof } => {
                if self.step() != Some(*step) {
                    return senseless("it is not this step's turn");
                }
                self.done.push((*step, proof.clone()));
                self.step_since = record.at;
            }
            Entry::Finished { left } => self.finished = Some(left.clone()),
            Entry::Stopped { .. } => {}
        }
        Ok(())
    }

    /// The step that is worked on; none if all are done.
    #[must_use]
    pub fn step(&self) -> Option<Step> {
        match self.done.last() {
            None => Some(Step::DeleteObjects),
            Some((last, _)) => last.following(),
        }
    }

    /// Since when the step is worked on, by this or the last resumption.
    #[must_use]
    pub fn step_since(&self) -> Timestamp {
        self.step_since
    }

    /// Returns when the run, or its last resumption, began.
    #[must_use]
    pub fn session_start(&self) -> Timestamp {
        self.session.0
    }

    /// True if a person asked for another try since: a refusal of before need not be one of now.
    #[must_use]
    pub fn asked_again_since(&self, attempt: &Attempt) -> bool {
        self.session.1 > attempt.seq
    }

    /// What was deleted: for each path the objects that were there, one after the other.
    #[must_use]
    pub fn deleted(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut deleted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for attempt in self.attempts.values() {
            if let Effect::Delete { target } = &attempt.effect {
                deleted.entry(&target.path).or_default().insert(&target.uid);
            }
        }
        deleted
    }

    /// Whether anything was changed.
    #[must_use]
    pub fn acted(&self) -> bool {
        self.attempts.values().any(|attempt| attempt.result == Some(EffectResult::Done))
    }
}
