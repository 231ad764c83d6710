//! What the journal says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::action::Reason;
use crate::approval::{Approval, PlanHash};
use crate::effects::{Effect, EffectResult};
use crate::guards::Scope;
use crate::journal::{Entry, Finish, JournalError, Record, Session, Workload};
use crate::names::temporary_pool;
use crate::observation::is_windows;
use crate::plan::{Document, Step};
use crate::replay::{Replayed, replay};
use crate::settings::Settings;

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Going forward.
    Running,
    /// Being undone.
    Aborting,
    /// Over.
    Finished(Finish),
}

/// What was tried for one effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// How often.
    pub count: u32,
    /// When first.
    pub first: Timestamp,
    /// When last.
    pub at: Timestamp,
    /// What came of it; none if nobody lived to write it down.
    pub result: Option<EffectResult>,
    /// The last resume token.
    pub token: Option<String>,
    /// An earlier try may have had its effect: it was accepted, or nobody knows.
    pub landed: bool,
    /// It was made before the last step or resumption began, whatever the clocks of two machines say.
    pub earlier: bool,
}

impl Attempt {
    /// False only if every try was refused.
    #[must_use]
    pub fn may_have_happened(&self) -> bool {
        self.landed || !matches!(self.result, Some(EffectResult::Refused { .. }))
    }
}

/// A run as its records tell it.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The run's id.
    pub run: String,
    /// The plan in force.
    pub plan: Arc<Document>,
    /// Its hash.
    pub plan_hash: PlanHash,
    /// On what authority the last process acts or acted.
    pub approval: Approval,
    /// What was asked for.
    pub settings: Settings,
    /// Where it stands.
    pub phase: Phase,
    /// Steps that reached their goal, with how that was seen.
    pub done: Vec<(Step, Vec<String>)>,
    /// Effects, by key.
    pub attempts: BTreeMap<String, Attempt>,
    /// Nodes that this run cordoned, by name.
    pub cordoned: BTreeSet<String>,
    /// What served before each drain.
    pub workloads: BTreeMap<Step, BTreeMap<String, Workload>>,
    /// What was lost, or stays behind.
    pub losses: Vec<String>,
    /// When the plan's evidence was judged last before an operation was aborted.
    judged: Option<Timestamp>,
    /// Since when the current step is worked on, by this or the last resumption.
    step_since: Timestamp,
    /// When this run, or its last resumption, began.
    session_since: Timestamp,
    /// The last effect whose outcome is not known yet.
    open: Option<String>,
}

impl Replayed for State {
    type Entry = Entry;

    fn begun_by(record: &Record) -> Option<Self> {
        let Entry::RunStarted(session) = &record.entry else { return None };
        let mut state = Self {
            run: record.run.clone(),
            plan: Arc::clone(&session.plan),
            plan_hash: session.plan.hash(),
            approval: session.approval.clone(),
            settings: session.settings(),
            phase: Phase::Running,
            done: Vec::new(),
            attempts: BTreeMap::new(),
            cordoned: BTreeSet::new(),
            workloads: BTreeMap::new(),
            losses: Vec::new(),
            judged: None,
            step_since: record.at,
            session_since: record.at,
            open: None,
        };
        state.lose_secrets();
        Some(state)
    }

    fn run(&self) -> &str {
        &self.run
    }

    fn is_over(&self) -> bool {
        self.is_finished()
    }

    fn take(&mut self, record: &Record) -> Result<(), JournalError> {
        self.take(record)
    }
}

impl State {
    /// The last run of a journal; none if there is none.
    pub fn replay(records: &[Record]) -> Result<Option<Self>, JournalError> {
        replay(records)
    }

    /// Takes a further record in.
    pub fn take(&mut self, record: &Record) -> Result<(), JournalError> {
        let senseless = |why| Err(JournalError::Senseless(record.seq, why));
        if matches!(self.phase, Phase::Finished(_)) {
            return senseless("the run is over");
        }
        match &record.entry {
            Entry::RunStarted(_) => return senseless("the run has begun"),
            Entry::Resumed(session) => self.start_session(session, record.at),
            Entry::Workloads { step, workloads, losses } => {
                self.workloads.entry(*step).or_insert_with(|| workloads.clone());
                self.losses.extend(losses.iter().cloned());
            }
            Entry::Intent { effect, .. } => self.intend(effect, record.at),
            Entry::Outcome { key, result } => {
                if self.open.as_deref() != Some(key) {
                    return senseless("it is the outcome of nothing");
                }
                self.open = None;
                if let Some(attempt) = self.attempts.get_mut(key) {
                    if let EffectResult::Started { token } = result {
                        attempt.token = Some(token.clone());
                    }
                    attempt.at = record.at;
                    attempt.result = Some(result.clone());
                }
            }
            Entry::StepDone { step, proof } => {
                if self.step() != Some(*step) {
                    return senseless("it is not this step's turn");
                }
                self.done.push((*step, proof.clone()));
                self.step_begins(record.at);
            }
            Entry::AbortStarted(session) => {
                self.phase = Phase::Aborting;
                self.start_session(session, record.at);
            }
            Entry::Finished { finish, .. } => self.phase = Phase::Finished(*finish),
            // An abort that can undo nothing is over, and going on is all that is left.
            Entry::Stopped { reason, .. } if *reason == Reason::NotUndoable.word() => {
                self.phase = Phase::Running;
            }
            Entry::Guards { .. } | Entry::Stopped { .. } => {}
        }
        Ok(())
    }

    fn intend(&mut self, effect: &Effect, at: Timestamp) {
        let key = effect.key();
        let attempt = self.attempts.entry(key.clone()).or_insert(Attempt {
            count: 0,
            first: at,
            at,
            result: None,
            token: None,
            landed: false,
            earlier: false,
        });
        attempt.landed |= attempt.count > 0 && attempt.may_have_happened();
        attempt.count += 1;
        attempt.at = at;
        attempt.result = None;
        attempt.earlier = false;
        match effect {
            Effect::Cordon { node, .. } => drop(self.cordoned.insert(node.clone())),
            Effect::AbortOperation { judged, .. } => self.judged = self.judged.or(*judged),
            _ => {}
        }
        self.open = Some(key);
    }

    /// Another process takes over, by its own settings. Under another plan every step runs again from live state; what
    /// was tried for an effect is remembered.
    fn start_session(&mut self, session: &Session, at: Timestamp) {
        if *session.plan != *self.plan {
            self.plan = Arc::clone(&session.plan);
            self.plan_hash = session.plan.hash();
            self.done.clear();
            self.workloads.clear();
            // Nobody may begin under a new plan whose guards do not pass now.
            self.judged = self.first_abort().map(|_| at);
            self.lose_secrets();
        }
        self.settings = session.settings();
        self.approval = session.approval.clone();
        self.session_since = at;
        self.step_begins(at);
    }

    /// Notes what the plan does not keep.
    fn lose_secrets(&mut self) {
        for path in &self.plan.stripped {
            let lost = format!("{path} may hold a secret and is not kept; set it again");
            if !self.losses.contains(&lost) {
                self.losses.push(lost);
            }
        }
    }

    fn step_begins(&mut self, at: Timestamp) {
        self.step_since = at;
        for attempt in self.attempts.values_mut() {
            attempt.earlier = true;
        }
    }

    /// The last try to delete the pool that the service may have accepted.
    #[must_use]
    pub fn deletion(&self) -> Option<&Attempt> {
        let deletion = self.attempt(&Effect::key_of_deletion(self.pool()));
        deletion.filter(|attempt| attempt.may_have_happened())
    }

    /// Returns true if nothing can come after.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Finished(_))
    }

    /// The step that is worked on; none if all are done.
    #[must_use]
    pub fn step(&self) -> Option<Step> {
        match self.done.last() {
            None => Some(Step::Snapshot),
            Some((last, _)) => last.following(),
        }
    }

    /// True if a step has reached its goal.
    #[must_use]
    pub fn has_done(&self, step: Step) -> bool {
        self.done.iter().any(|(done, _)| *done == step)
    }

    /// What was tried for an effect.
    #[must_use]
    pub fn attempt(&self, key: &str) -> Option<&Attempt> {
        self.attempts.get(key)
    }

    /// True if an effect with this key was ever intended.
    #[must_use]
    pub fn intended(&self, key: &str) -> bool {
        self.attempts.contains_key(key)
    }

    /// The pool's name.
    #[must_use]
    pub fn pool(&self) -> &str {
        &self.plan.pool
    }

    /// The temporary pool's name.
    #[must_use]
    pub fn temporary(&self) -> String {
        temporary_pool(self.pool(), is_windows(&self.plan.source))
    }

    /// When the run, or its last resumption, must come to rest.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        self.session_since.checked_add(self.settings.limits.overall).ok()
    }

    /// Since when the step is worked on.
    #[must_use]
    pub fn step_since(&self) -> Timestamp {
        self.step_since
    }

    /// When this run, its last resumption or its abort began, by the clock of whoever began it.
    pub(crate) fn session_since(&self) -> Timestamp {
        self.session_since
    }

    pub(crate) fn step_expired(&self, now: Timestamp) -> bool {
        let limits = &self.settings.limits;
        let limit = match self.step() {
            Some(Step::Settle | Step::Recheck | Step::VerifyCure | Step::TouchCluster) => {
                limits.settle
            }
            Some(Step::DrainPool | Step::DrainTemporary) => limits.drain,
            Some(Step::ProvePlacement) => limits.placement,
            _ => limits.pool,
        };
        now.duration_since(self.step_since) >= limit
    }

    /// Aborts of operations that may have happened, by their effect's key.
    pub(crate) fn aborts(&self) -> impl Iterator<Item = (&str, &Attempt)> {
        let all = self.attempts.iter().map(|(key, attempt)| (key.as_str(), attempt));
        all.filter(|(key, attempt)| key.starts_with("abort ") && attempt.may_have_happened())
    }

    /// When this run first aborted an operation of its cluster or pool, as its journal has it.
    #[must_use]
    pub fn first_abort(&self) -> Option<Timestamp> {
        let scopes = [Scope::Cluster, Scope::Pool(self.pool().to_owned())];
        let keys = scopes.map(Effect::key_of_abort);
        let aborts = self.aborts().filter(|(key, _)| keys.iter().any(|own| own == key));
        aborts.map(|(_, abort)| abort.first).min()
    }

    /// When this plan's guards passed right before this run aborted an operation; none if it aborted none.
    #[must_use]
    pub fn judged_before_abort(&self) -> Option<Timestamp> {
        self.judged.filter(|_| self.aborts().next().is_some())
    }

    /// What a person must know who ends a run that aborted an operation.
    pub(crate) fn aborted(&self) -> Option<String> {
        let aborted = self.aborts().next().is_some();
        aborted.then(|| "the operation that was aborted cannot be taken up again".to_owned())
    }

    /// What a person must know at the end.
    #[must_use]
    pub fn left(&self) -> Vec<String> {
        self.losses.clone()
    }
}
