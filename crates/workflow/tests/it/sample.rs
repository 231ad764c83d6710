//! A workflow of three steps whose decisions are functions that a test provides.

use std::cell::RefCell;
use std::fmt::Debug;
use std::rc::Rc;

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::approval::Approval;
use mooring_workflow::document::Backup;
use mooring_workflow::workflow::View;
use mooring_workflow::{
    Authority, Context, Decision, Effect, Entry, Reading, Record, Run, Session, Step, Types,
    Unknown, Workflow,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample;

pub(crate) type SampleEntry = Entry<Sample>;
pub(crate) type SampleRecord = Record<Sample>;
pub(crate) type SampleRun = Run<Sample>;
pub(crate) type SampleDecision = Decision<Sample>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SampleSession {
    pub(crate) approval: Approval,
    /// Steps that are done under another generation run again.
    pub(crate) generation: u32,
}

impl Session for SampleSession {
    fn approval(&self) -> &Approval {
        &self.approval
    }

    fn continues(&self, earlier: &Self) -> bool {
        self.generation == earlier.generation
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SampleStep {
    Prepare,
    Change,
    Verify,
}

impl Step for SampleStep {
    const ALL: &'static [Self] = &[Self::Prepare, Self::Change, Self::Verify];

    fn name(self) -> &'static str {
        ["prepare", "change", "verify"][self.number() - 1]
    }
}

/// A change of an object that requires an approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) object: String,
    pub(crate) backup: Option<Backup>,
}

impl Effect for Change {
    fn key(&self) -> String {
        format!("change {}", self.object)
    }

    fn authority(&self) -> Authority {
        Authority::Approved
    }

    fn lasts(&self) -> bool {
        self.object == "lasting"
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Fact {
    Noted { text: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Finish {
    Changed,
    Aborted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reason {
    Deadline,
    Interrupted,
    StepTimeout,
    NotApproved,
    Denied,
    RolledBack,
}

impl mooring_workflow::types::Reason for Reason {
    const DEADLINE: Self = Self::Deadline;
    const INTERRUPTED: Self = Self::Interrupted;
    const STEP_TIMEOUT: Self = Self::StepTimeout;
    const NOT_APPROVED: Self = Self::NotApproved;

    fn ends_rollback(self) -> bool {
        self == Self::RolledBack
    }
}

impl Types for Sample {
    const SCHEMA: &'static str = "mooring.sample.document/v1";
    type Session = SampleSession;
    type Step = SampleStep;
    type Effect = Change;
    type Fact = Fact;
    type Facts = Vec<String>;
    type Finish = Finish;
    type Leftover = String;
    type Reason = Reason;
    type Query = &'static str;

    fn facts(_: &SampleSession) -> Vec<String> {
        Vec::new()
    }

    fn deleted(run: &SampleRun) -> Option<Timestamp> {
        run.attempt("change lasting").map(|attempt| attempt.at)
    }

    /// A change of an object whose name begins with `saved` needs a copy.
    fn backup(entry: &SampleEntry) -> Option<&Backup> {
        match entry {
            Entry::Intent(effect) => effect.backup.as_ref(),
            _ => None,
        }
    }

    fn fold(run: &mut SampleRun, entry: &SampleEntry, at: Timestamp) {
        if let Entry::Fact(Fact::Noted { text }) = entry {
            run.facts.push(format!("{text} at {}", second(at)));
        }
    }
}

/// Results of reads by query. A result whose query begins with `kept` outlives effects and facts.
#[derive(Debug, Default)]
pub(crate) struct Results(Vec<(&'static str, Reading<u32>)>);

impl Results {
    pub(crate) fn get(&self, query: &'static str) -> Result<u32, Unknown<Sample>> {
        match self.0.iter().find(|(name, _)| *name == query) {
            None => Err(Unknown::NotRead(query)),
            Some((_, Reading::Known(value))) => Ok(*value),
            Some((_, Reading::Denied(code))) => {
                Err(Unknown::Denied(Reason::Denied, format!("{query}: {code}")))
            }
            Some((_, other)) => Err(Unknown::Failed(other.missing().unwrap())),
        }
    }
}

impl View<&'static str, (&'static str, Reading<u32>)> for Results {
    fn has(&self, query: &&'static str) -> bool {
        self.0.iter().any(|(name, _)| name == query)
    }

    fn take(&mut self, answer: (&'static str, Reading<u32>)) {
        self.0.push(answer);
    }

    fn keep(&mut self) -> bool {
        self.0.retain(|(name, _)| name.starts_with("kept"));
        !self.0.is_empty()
    }
}

type Queries = Box<dyn Fn(&Context<'_, Sample>) -> Vec<&'static str>>;
type Decide = Box<dyn Fn(&Context<'_, Sample>) -> Result<SampleDecision, Unknown<Sample>>>;

/// The decisions of a test, and the limits of its run.
pub(crate) struct Terms {
    pub(crate) queries: Queries,
    pub(crate) decide: Decide,
    pub(crate) step_limit: Option<SignedDuration>,
}

/// The duration of a session.
pub(crate) const SESSION: SignedDuration = SignedDuration::from_secs(1000);
pub(crate) const POLL: SignedDuration = SignedDuration::from_secs(7);

impl Terms {
    pub(crate) fn new(
        decide: impl Fn(&Context<'_, Sample>) -> Result<SampleDecision, Unknown<Sample>> + 'static,
    ) -> Self {
        Self { queries: Box::new(|_| Vec::new()), decide: Box::new(decide), step_limit: None }
    }

    pub(crate) fn reading(
        mut self,
        queries: impl Fn(&Context<'_, Sample>) -> Vec<&'static str> + 'static,
    ) -> Self {
        self.queries = Box::new(queries);
        self
    }
}

impl Workflow for Sample {
    type Terms = Terms;
    type Answer = (&'static str, Reading<u32>);
    type View = Results;
    const MAX_ROUNDS: usize = 3;

    fn deadline(_: &Terms, began: Timestamp) -> Timestamp {
        began + SESSION
    }

    fn step_limit(terms: &Terms, _: Option<SampleStep>) -> Option<SignedDuration> {
        terms.step_limit
    }

    fn poll(_: &Terms) -> SignedDuration {
        POLL
    }

    fn queries(cx: &Context<'_, Self>) -> Vec<&'static str> {
        (cx.terms.queries)(cx)
    }

    fn decide(cx: &Context<'_, Self>) -> Result<SampleDecision, Unknown<Self>> {
        (cx.terms.decide)(cx)
    }
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
    Entry::Finished { finish: Finish::Changed, left: vec!["a pool".to_owned()] }
}

/// A run after these changes, a second apart.
pub(crate) fn after(entries: impl IntoIterator<Item = SampleEntry>) -> SampleRun {
    let mut run = begun();
    for (second, entry) in (1..).zip(entries) {
        run.change(at(second), entry).unwrap();
    }
    run
}

/// A value that a closure and a test share.
pub(crate) fn shared<T: Debug>(value: T) -> Rc<RefCell<T>> {
    Rc::new(RefCell::new(value))
}
