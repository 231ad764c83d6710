//! Authority to continue a run.
//!
//! The journal is evidence, not authority: any client with access may have changed it. A process that continues a run relies
//! on its command line, on live state, and on the tag of the temporary pool, which only callers with permission to write
//! agent pools can set.

use std::collections::BTreeMap;

use jiff::Timestamp;

pub use super::start_checks::ResumeError;
use super::start_checks::{StartError, VERSION, check_new_plan};
use crate::observation::Pool;
use crate::plan::{Plan, PlanDocument, Step};
use crate::settings::Settings;
use crate::temporary_pool::TemporaryPool;
use crate::workflow::{Run, Runs, Session};
use mooring_workflow::approval::{Approval, ApprovalToken, PlanHash};
use mooring_workflow::{CheckResult, Phase};

/// Evidence for a run in addition to its journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumeBasis {
    /// The tag of the temporary pool approves the plan of the journal.
    Anchored,
    /// Nothing approves the plan, and the pool exists: a new plan replaces it.
    Replannable,
    /// Nothing approves the plan, and the pool was deleted.
    Unverified,
    /// Only harmless effects remain, or a rollback, which checks the tags itself.
    Harmless,
    /// The tag of the temporary pool approves another plan.
    Contradicted(TemporaryPool),
}

pub fn resume_basis(state: &Run, pools: &[Pool]) -> ResumeBasis {
    if state.phase == Phase::Aborting {
        return ResumeBasis::Harmless;
    }
    let anchor = TemporaryPool::of(pools, &state.session.plan.pool);
    // The pool of a finished run approves nothing until this run adopts it.
    if let Some(anchor) =
        anchor.filter(|anchor| anchor.run.is_none() || anchor.run != state.session.plan.adopts)
    {
        let source = anchor.source.as_deref().unwrap_or_default();
        let approves = anchor.run.as_deref() == Some(&state.id)
            && anchor.approval.as_ref() == Some(&state.session.plan.hash())
            && source.eq_ignore_ascii_case(state.session.plan.source_id());
        return if approves { ResumeBasis::Anchored } else { ResumeBasis::Contradicted(anchor) };
    }
    if state.step().is_none_or(|step| step >= Step::ReconcileCluster) {
        return ResumeBasis::Harmless;
    }
    if pools.iter().any(|pool| pool.name == state.session.plan.pool) {
        ResumeBasis::Replannable
    } else {
        ResumeBasis::Unverified
    }
}

/// Consent of the operator or the pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consent {
    /// `--yes` alone.
    Unattended,
    Token(ApprovalToken),
    /// The name, typed after a review of this plan.
    Typed(PlanHash),
    Pipeline,
}

/// A new plan from live state, with the checks of the same reads.
#[derive(Clone, Copy)]
pub struct Fresh<'a> {
    pub plan: &'a Plan,
    pub checks: &'a [CheckResult],
}

/// Returns the overrides of the command line that the plan does not have.
pub fn further_overrides(plan: &PlanDocument, settings: &Settings) -> BTreeMap<String, String> {
    let known = &plan.settings.overrides;
    let further =
        settings.overrides.iter().filter(|(name, reason)| known.get(*name) != Some(reason));
    further.map(|(name, reason)| (name.clone(), reason.clone())).collect()
}

/// Decides whether this process may continue the unfinished run.
///
/// `settings` are those of this command line, and `fresh` is a new plan where [`resume_basis`] requires one.
pub fn authorize(
    state: &Run,
    basis: &ResumeBasis,
    runs: &Runs,
    settings: &Settings,
    consent: &Consent,
    fresh: Option<Fresh<'_>>,
    now: Timestamp,
) -> Result<Session, StartError> {
    let plan = &state.session.plan;
    let journal =
        |approval, overrides| Ok(Session::new(plan.clone(), overrides, approval, settings));
    match (state.phase, basis) {
        (Phase::Aborting, _) => return journal(Approval::Rollback, BTreeMap::new()),
        (_, ResumeBasis::Harmless) => return journal(Approval::None, BTreeMap::new()),
        _ => {}
    }
    let further = further_overrides(plan, settings);
    let reviewed = plan.with_overrides(&further).hash();
    let replace = |approval: Approval| {
        let fresh = fresh.ok_or(ResumeError::NoPlan)?;
        check_new_plan(runs, fresh.plan, fresh.checks, settings, &approval, now)?;
        let plan = fresh.plan.document.clone();
        Ok(Session::new(plan, BTreeMap::new(), approval, settings))
    };
    match (consent, basis) {
        (Consent::Token(token), _) if token.hash == reviewed => {
            in_time(state, now)?;
            journal(Approval::Token(token.clone()), further)
        }
        (_, ResumeBasis::Contradicted(anchor)) => {
            Err(ResumeError::Contradicted(anchor.clone()).into())
        }
        (Consent::Token(token), ResumeBasis::Replannable) if fresh.is_some() => {
            replace(Approval::Token(token.clone()))
        }
        (Consent::Token(_), _) => Err(ResumeError::OtherPlan.into()),
        (Consent::Typed(hash), ResumeBasis::Replannable) => replace(Approval::Typed(hash.clone())),
        (Consent::Typed(hash), _) if *hash == reviewed => {
            journal(Approval::Typed(hash.clone()), further)
        }
        (Consent::Typed(hash), _) => {
            Err(StartError::PlanChanged { approved: hash.clone(), current: reviewed })
        }
        (Consent::Pipeline, ResumeBasis::Replannable) => {
            let hash = fresh.ok_or(ResumeError::NoPlan)?.plan.document.hash();
            replace(Approval::Pipeline(hash))
        }
        (Consent::Unattended | Consent::Pipeline, ResumeBasis::Anchored) => {
            if plan.tool != VERSION {
                return Err(
                    ResumeError::OtherVersion(mooring_redact::identifier(&plan.tool)).into()
                );
            }
            in_time(state, now)?;
            let changed = differences(&plan.settings, &settings.bound());
            if !changed.is_empty() {
                return Err(ResumeError::NotRepeated(changed).into());
            }
            journal(Approval::Anchored(plan.hash()), BTreeMap::new())
        }
        (Consent::Unattended | Consent::Pipeline, _) => Err(ResumeError::NotVerified.into()),
    }
}

fn in_time(state: &Run, now: Timestamp) -> Result<(), ResumeError> {
    let end = state.session.plan.resume_before();
    if now < end { Ok(()) } else { Err(ResumeError::TooLate(end)) }
}

/// Returns the flags that the command line must repeat or omit.
fn differences(plan: &Settings, asked: &Settings) -> Vec<String> {
    let mut flags = Vec::new();
    for (name, reason) in &plan.overrides {
        if asked.overrides.get(name) != Some(reason) {
            flags.push(format!("--override {name}={}", mooring_redact::identifier(reason)));
        }
    }
    for name in asked.overrides.keys().filter(|name| !plan.overrides.contains_key(*name)) {
        flags.push(format!("no --override {name}"));
    }
    if plan.fail_threshold != asked.fail_threshold {
        flags.push(format!("--fail-threshold {}", plan.fail_threshold));
    }
    if plan.fail_window != asked.fail_window {
        flags.push(format!("--fail-window {}", plan.fail_window.as_mins()));
    }
    if plan.signs != asked.signs {
        flags.push(format!("--signs {}", plan.signs.flag()));
    }
    if plan.signatures != asked.signatures {
        flags.push("--signatures".to_owned());
    }
    if plan.wedge_states != asked.wedge_states {
        let states: Vec<String> =
            plan.wedge_states.iter().map(|state| mooring_redact::identifier(state)).collect();
        flags.push(format!("--wedge-states {}", states.join(",")));
    }
    if plan.version != asked.version {
        flags.push(format!("--kubernetes-version {}", plan.version.flag()));
    }
    // Other differences have no flag.
    if flags.is_empty() && plan != asked {
        flags.push("its limits, PDB policy or target".to_owned());
    }
    flags
}
