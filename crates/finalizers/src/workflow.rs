//! Removal of an operator's resources as a workflow: its types, and the facts of its runs.

use std::collections::{BTreeMap, BTreeSet};

use mooring_workflow::approval::{Approval, ApprovalToken};
use mooring_workflow::lock::LockOwner;
use mooring_workflow::status::{EffectStatus, Subject};
use mooring_workflow::{Authority, Backup, EffectResult, Finish, Phase, StepInfo, Workflow};
use serde::{Deserialize, Serialize};

use crate::effect::Effect;
use crate::profile::Profile;
use crate::step::Step;

pub type Entry = mooring_workflow::Entry<FinalizerRemoval>;
/// A stored run. It contributes backoff, skipped objects and the current step, never more targets.
pub type Run = mooring_workflow::Run<FinalizerRemoval>;
pub type Runs = mooring_workflow::Runs<FinalizerRemoval>;
pub type Attempt = mooring_workflow::Attempt<Effect>;
pub type Decision = mooring_workflow::Decision<FinalizerRemoval>;

/// Removes the resources of an uninstalled operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinalizerRemoval;

impl Workflow for FinalizerRemoval {
    const SCHEMA: &'static str = "mooring.finalizers.document/v1";
    const STEPS: &'static [Step] = Step::ALL;

    type Session = Session;
    type Step = Step;
    type Effect = Effect;
    type Facts = Facts;

    fn approval(session: &Session) -> &Approval {
        &session.approval
    }

    /// Every step runs again from live state, regardless of the journal.
    fn continues(_: &Session, _: &Session) -> bool {
        false
    }

    fn facts(_: &Session) -> Facts {
        Facts::default()
    }

    fn about(step: Step) -> StepInfo {
        step.about()
    }

    fn key(effect: &Effect) -> String {
        effect.key()
    }

    fn authority(_: &Effect) -> Authority {
        Authority::Approved
    }

    fn backup(effect: &Effect) -> Option<&Backup> {
        match effect {
            Effect::Strip { backup, .. } => Some(backup),
            _ => None,
        }
    }

    fn describe(effect: &Effect, result: Option<&EffectResult>) -> EffectStatus {
        EffectStatus {
            at: None,
            what: format!("{} {}", effect.verb(), effect.target()),
            removed: match effect {
                Effect::Strip { removed, .. } => removed.clone(),
                _ => Vec::new(),
            },
            error: result.and_then(|result| effect.why_not(result)),
        }
    }

    fn subject(run: &Run) -> Subject {
        Subject::Profile(run.session.profile.name.clone())
    }

    fn plan_hash(run: &Run) -> String {
        run.session.plan.to_string()
    }

    /// Nothing is rolled back; backups of finalizers are in the journal.
    fn is_past_return(run: &Run) -> bool {
        acted(run)
    }

    fn finished_state(run: &Run, finish: Finish) -> &'static str {
        match finish {
            Finish::Partial => "partially-removed",
            _ if acted(run) => "removed",
            _ => "nothing-to-do",
        }
    }
}

/// Input of a process that starts or continues a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The plan's hash and expiry.
    pub plan: ApprovalToken,
    pub approval: Approval,
    /// Uid of the namespace kube-system.
    pub cluster: String,
    /// Compared with the profile of the command line, which a resumed run uses.
    pub profile: Box<Profile>,
    pub owner: LockOwner,
}

/// State from the facts of a removal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Skipped objects by path and uid, with reasons.
    pub spared: BTreeMap<String, String>,
    /// Objects with a copy, by path and uid. The next process finds the copies themselves.
    #[serde(skip)]
    pub saved: BTreeSet<String>,
}

/// Returns how many objects at this path a run deleted.
pub fn times_deleted(run: &Run, path: &str) -> usize {
    let is_deletion =
        |effect: &Effect| matches!(effect, Effect::Delete { target } if target.path == path);
    run.attempts.values().filter(|attempt| is_deletion(&attempt.effect)).count()
}

pub fn acted(run: &Run) -> bool {
    run.attempts.values().any(|attempt| attempt.result == Some(EffectResult::Done))
}

/// Result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemovalVerdict {
    Clean,
    Acted,
    Leftovers,
    /// No run was started.
    Refused,
    /// `resume` continues the run.
    Interrupted,
}

impl RemovalVerdict {
    pub fn of(run: &Run) -> Self {
        match run.phase {
            Phase::Finished(Finish::Partial) => Self::Leftovers,
            Phase::Finished(_) if acted(run) => Self::Acted,
            Phase::Finished(_) => Self::Clean,
            Phase::Running | Phase::Aborting => Self::Interrupted,
        }
    }
}
