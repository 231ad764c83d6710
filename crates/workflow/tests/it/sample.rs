//! A workflow of three steps whose decisions are functions of a test.

use std::cell::RefCell;
use std::fmt::Debug;
use std::rc::Rc;

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::approval::Approval;
use mooring_workflow::status::{EffectStatus, OverrideStatus, Remaining, Subject};
use mooring_workflow::{
    Authority, Backup, Clock, Cluster, Decision, EffectResult, Entry, Finish, NotRead, Note,
    Reason, Run, StepInfo, WaitLimits, Workflow,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample;

pub(crate) type SampleEntry = Entry<Sample>;
pub(crate) type SampleRun = Run<Sample>;
pub(crate) type SampleDecision = Decision<Sample>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SampleSession {
    pub(crate) approval: Approval,
    /// Steps that are done under another generation run again.
    pub(crate) generation: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SampleStep {
    Prepare,
    Change,
    Verify,
}

impl SampleStep {
    pub(crate) fn name(self) -> &'static str {
        Sample::about(self).name
    }
}

/// A change of an object that requires an approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) object: String,
    pub(crate) backup: Option<Backup>,
}

impl Workflow for Sample {
    const SCHEMA: &'static str = "mooring.sample.document/v1";
    const STEPS: &'static [SampleStep] =
        &[SampleStep::Prepare, SampleStep::Change, SampleStep::Verify];
    type Session = SampleSession;
    type Step = SampleStep;
    type Effect = Change;
    type Facts = Vec<String>;

    fn approval(session: &SampleSession) -> &Approval {
        &session.approval
    }

    fn continues(session: &SampleSession, earlier: &SampleSession) -> bool {
        session.generation == earlier.generation
    }

    fn facts(_: &SampleSession) -> Vec<String> {
        Vec::new()
    }

    fn deleted(run: &SampleRun) -> Option<Timestamp> {
        run.attempt("change lasting").map(|attempt| attempt.at)
    }

    fn about(step: SampleStep) -> StepInfo {
        let (name, seconds) = match step {
            SampleStep::Prepare => ("prepare", 10),
            SampleStep::Change => ("change", 130),
            SampleStep::Verify => ("verify", 60),
        };
        StepInfo { name, what: name, expected_seconds: Some(seconds), risk: "none" }
    }

    fn point_of_no_return() -> Option<SampleStep> {
        Some(SampleStep::Change)
    }

    fn key(effect: &Change) -> String {
        format!("change {}", effect.object)
    }

    fn authority(_: &Change) -> Authority {
        Authority::Approved
    }

    fn lasts(effect: &Change) -> bool {
        effect.object == "lasting"
    }

    /// A change of an object whose name begins with `saved` needs a copy.
    fn backup(effect: &Change) -> Option<&Backup> {
        effect.backup.as_ref()
    }

    fn describe(effect: &Change, result: Option<&EffectResult>) -> EffectStatus {
        let error = match result {
            Some(EffectResult::Refused { message, .. }) => Some(message.clone()),
            _ => None,
        };
        let what = format!("change {}", effect.object);
        EffectStatus { at: None, what, removed: Vec::new(), error }
    }

    fn subject(_: &SampleRun) -> Subject {
        Subject::Pool("system".to_owned())
    }

    fn plan_hash(_: &SampleRun) -> String {
        "7363d57d69b8aaaa".to_owned()
    }

    fn is_past_return(run: &SampleRun) -> bool {
        !run.attempts.is_empty()
    }

    fn finished_state(_: &SampleRun, finish: Finish) -> &'static str {
        if finish == Finish::Aborted { "aborted" } else { "changed" }
    }

    fn overrides(_: &SampleRun) -> Vec<OverrideStatus> {
        vec![OverrideStatus { check: "pdb".to_owned(), comment: "ticket 7".to_owned() }]
    }

    fn remaining(_: &SampleRun) -> Vec<Remaining> {
        let pool = Remaining {
            explanation: Some("not deleted".to_owned()),
            ..Remaining::from("pool systmp".to_owned())
        };
        vec![pool, Remaining::from("2 pods".to_owned())]
    }
}

type Decide = Box<dyn FnMut(&SampleRun) -> Result<SampleDecision, NotRead>>;

/// The decisions of a test, and the limits of its run. Effects succeed.
pub(crate) struct Decisions {
    pub(crate) decide: Decide,
    pub(crate) step_limit: Option<SignedDuration>,
    pub(crate) result: EffectResult,
    /// The changes that were made, each with its time.
    pub(crate) effects: Rc<RefCell<Vec<(String, Timestamp)>>>,
    pub(crate) clock: Clock,
}

/// The duration of a session.
pub(crate) const SESSION: SignedDuration = SignedDuration::from_secs(1000);
pub(crate) const POLL: SignedDuration = SignedDuration::from_secs(7);

impl Decisions {
    pub(crate) fn new(
        decide: impl FnMut(&SampleRun) -> Result<SampleDecision, NotRead> + 'static,
    ) -> Self {
        let (result, effects) = (EffectResult::Done, Rc::default());
        let clock = Rc::new(|| at(0));
        Self { decide: Box::new(decide), step_limit: None, result, effects, clock }
    }
}

impl Cluster<Sample> for Decisions {
    async fn next(&mut self, run: &SampleRun) -> Result<SampleDecision, NotRead> {
        (self.decide)(run)
    }

    async fn perform(&mut self, effect: &Change) -> EffectResult {
        self.effects.borrow_mut().push((effect.object.clone(), (self.clock)()));
        self.result.clone()
    }

    fn limits(&self, _: Option<SampleStep>) -> WaitLimits {
        WaitLimits { session: SESSION, step: self.step_limit, poll: POLL }
    }
}

/// Facts with one more.
pub(crate) fn noted(facts: &[String], text: &str) -> Note<Sample> {
    let facts = [facts, &[text.to_owned()]].concat();
    Note { facts, backup: None, text: text.to_owned() }
}

/// The time at a second of a test.
pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_779_000_000 + second).unwrap()
}

/// The second of a test at a time.
pub(crate) fn second(time: Timestamp) -> i64 {
    time.as_second() - at(0).as_second()
}

pub(crate) fn session(generation: u32) -> SampleSession {
    let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    SampleSession { approval: Approval::Typed(hash.parse().unwrap()), generation }
}

/// A run that starts at 0 s.
pub(crate) fn begun() -> SampleRun {
    SampleRun::begin("r1", session(1), at(0))
}

pub(crate) fn change(object: &str) -> Change {
    let backup = object.starts_with("saved").then(|| Backup::new(format!("copy of {object}")));
    Change { object: object.to_owned(), backup }
}

pub(crate) fn intent(object: &str) -> SampleEntry {
    Entry::Intent(Box::new(change(object)))
}

pub(crate) fn done(step: SampleStep) -> SampleEntry {
    Entry::StepDone { step, evidence: vec![format!("{} is done", step.name())] }
}

pub(crate) fn stopped(message: &str) -> SampleEntry {
    Entry::Stopped { reason: Reason::Interrupted, message: message.to_owned() }
}

pub(crate) fn finished() -> SampleEntry {
    Entry::Finished { finish: Finish::Complete, left: vec!["a pool".to_owned().into()] }
}

/// A run after these changes, a second apart.
pub(crate) fn after(entries: impl IntoIterator<Item = SampleEntry>) -> SampleRun {
    let mut run = begun();
    for (second, entry) in (1..).zip(entries) {
        run.change(at(second), &entry).unwrap();
    }
    run
}

/// A value that a closure and a test share.
pub(crate) fn shared<T: Debug>(value: T) -> Rc<RefCell<T>> {
    Rc::new(RefCell::new(value))
}
