//! A workflow: what is stored of its runs, and the rules of its steps and effects.

use std::fmt::Debug;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::approval::Approval;
use crate::journal::{Entry, Run};
use crate::model::effect::{Authority, Backup, EffectResult};
use crate::present::status::{EffectStatus, OverrideStatus, Remaining, Subject};

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

/// What plans, progress and reports say about a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepInfo {
    /// As in JSON.
    pub name: &'static str,
    pub what: &'static str,
    /// The usual duration; none if it depends on the number of objects.
    pub expected_seconds: Option<u32>,
    pub risk: &'static str,
}

/// Returns the position of a step, from 1.
pub fn number<W: Workflow>(step: W::Step) -> usize {
    W::STEPS.iter().position(|one| *one == step).map_or(0, |at| at + 1)
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    Complete,
    /// Complete, except for what remains.
    Partial,
    NothingToDo,
    Refused,
    /// Rolled back as far as possible.
    Aborted,
}

/// The reason for a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The deadline of the session.
    Deadline,
    Interrupted,
    StepTimeout,
    /// No approval covers the next effect.
    NotApproved,
    /// The object of the run is not the one of the plan.
    Changed,
    Gone,
    CheckFailed,
    /// What runs there may end by itself.
    TooRecent,
    Unidentified,
    NameTaken,
    EffectRefused,
    TooManyAttempts,
    Blocked,
    NotPermitted,
    SignedOut,
    /// A rollback has ended, and the run can only continue.
    NotUndoable,
}
