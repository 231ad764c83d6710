//! On what authority a run is continued.
//!
//! The journal is evidence: whoever may write it may have written any of it. What a process may do that continues a
//! run follows from its own command line, from live state, and from the tag on the temporary pool, which takes the
//! permission to write agent pools in Azure.

use crate::workflow::RepairRun as _;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::begin::check_new_plan;
use crate::observation::Pool;
use crate::plan::{Document, Plan, Step};
pub use crate::refusal::ResumeError;
use crate::refusal::{BeginError, VERSION};
use crate::settings::Settings;
use crate::temporary_pool::TemporaryPool;
use crate::workflow::Record;
use crate::workflow::Run;
use mooring_workflow::CheckResult;
use mooring_workflow::Phase;
use mooring_workflow::approval::{Approval, ApprovalToken, PlanHash};

/// What a run can rely on besides its journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Footing {
    /// The temporary pool vouches for the journal's plan.
    Anchored,
    /// Nothing vouches for it, and the pool still exists: a new plan replaces it.
    Replannable,
    /// Nothing vouches for it, and the pool is gone.
    Unverified,
    /// Precondition effects that harm nothing are left, or a rollback, which checks the tags itself.
    Harmless,
    /// The temporary pool vouches for another plan.
    Contradicted(TemporaryPool),
}

/// What the run of a journal can rely on, given the live pools.
pub fn footing(state: &Run, pools: &[Pool]) -> Footing {
    if state.phase == Phase::Aborting {
        return Footing::Harmless;
    }
    let anchor = TemporaryPool::of(pools, state.pool());
    // What a finished run left vouches for nothing before this run has adopted it.
    if let Some(anchor) =
        anchor.filter(|anchor| anchor.run.is_none() || anchor.run != state.session.plan.adopts)
    {
        let source = anchor.source.as_deref().unwrap_or_default();
        let vouches = anchor.run.as_deref() == Some(&state.id)
            && anchor.approval.as_ref() == Some(&state.facts.plan_hash)
            && source.eq_ignore_ascii_case(state.session.plan.source_id());
        return if vouches { Footing::Anchored } else { Footing::Contradicted(anchor) };
    }
    if state.step().is_none_or(|step| step >= Step::ReconcileCluster) {
        return Footing::Harmless;
    }
    if pools.iter().any(|pool| pool.name == state.pool()) {
        Footing::Replannable
    } else {
        Footing::Unverified
    }
}

/// What the operator or the pipeline brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consent {
    /// `--yes`, and nothing else.
    Unattended,
    /// `--plan-hash`.
    Token(ApprovalToken),
    /// The name, typed to a review of this plan.
    Typed(PlanHash),
    /// `--pipeline`.
    Pipeline,
}

/// A plan that was made from live state just now, with the guards of the same reading.
#[derive(Clone, Copy)]
pub struct Fresh<'a> {
    pub plan: &'a Plan,
    pub guards: &'a [CheckResult],
}

/// What a process may do that continues a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Grant {
    /// The plan to execute.
    pub plan: Arc<Document>,
    /// Overrides of this process alone.
    pub overrides: BTreeMap<String, String>,
    pub approval: Approval,
}

/// The overrides of a command line that the plan does not have.
pub fn further_overrides(plan: &Document, settings: &Settings) -> BTreeMap<String, String> {
    let known = plan.settings.with_current_names().overrides;
    let further =
        settings.overrides.iter().filter(|(name, reason)| known.get(*name) != Some(reason));
    further.map(|(name, reason)| (name.clone(), reason.clone())).collect()
}

/// Decides what this process may do with the journal's unfinished run.
///
/// `settings` are those of this command line; `records` are the journal's, and `fresh` is a plan of now where
/// [`footing`] says that one is needed.
pub fn authorize(
    state: &Run,
    footing: &Footing,
    records: &[Record],
    settings: &Settings,
    consent: &Consent,
    fresh: Option<Fresh<'_>>,
    now: Timestamp,
) -> Result<Grant, BeginError> {
    let journal = |approval, overrides| {
        Ok(Grant { plan: Arc::clone(&state.session.plan), overrides, approval })
    };
    match (state.phase, footing) {
        (Phase::Aborting, _) => return journal(Approval::Rollback, BTreeMap::new()),
        (_, Footing::Harmless) => return journal(Approval::None, BTreeMap::new()),
        _ => {}
    }
    let further = further_overrides(&state.session.plan, settings);
    let reviewed = state.session.plan.with_overrides(&further).hash();
    let replace = |approval: Approval| {
        let fresh = fresh.ok_or(ResumeError::NoPlan)?;
        check_new_plan(records, fresh.plan, fresh.guards, settings, &approval, now)?;
        let plan = Arc::clone(&fresh.plan.document);
        Ok(Grant { plan, overrides: BTreeMap::new(), approval })
    };
    match (consent, footing) {
        (Consent::Token(token), _) if token.hash == reviewed => {
            in_time(state, now)?;
            journal(Approval::Token(token.clone()), further)
        }
        (_, Footing::Contradicted(anchor)) => Err(ResumeError::Contradicted(anchor.clone()).into()),
        (Consent::Token(token), Footing::Replannable) if fresh.is_some() => {
            replace(Approval::Token(token.clone()))
        }
        (Consent::Token(_), _) => Err(ResumeError::OtherPlan.into()),
        (Consent::Typed(hash), Footing::Replannable) => replace(Approval::Typed(hash.clone())),
        (Consent::Typed(hash), _) if *hash == reviewed => {
            journal(Approval::Typed(hash.clone()), further)
        }
        (Consent::Typed(hash), _) => {
            Err(BeginError::PlanChanged { approved: hash.clone(), current: reviewed })
        }
        (Consent::Pipeline, Footing::Replannable) => {
            let hash = fresh.ok_or(ResumeError::NoPlan)?.plan.document.hash();
            replace(Approval::Pipeline(hash))
        }
        (Consent::Unattended | Consent::Pipeline, Footing::Anchored) => {
            if state.session.plan.tool != VERSION {
                return Err(ResumeError::OtherVersion(mooring_redact::identifier(
                    &state.session.plan.tool,
                ))
                .into());
            }
            in_time(state, now)?;
            let planned = state.session.plan.settings.with_current_names();
            let changed = differences(&planned, &settings.bound());
            if !changed.is_empty() {
                return Err(ResumeError::NotRepeated(changed).into());
            }
            journal(Approval::Anchored(state.facts.plan_hash.clone()), BTreeMap::new())
        }
        (Consent::Unattended | Consent::Pipeline, _) => Err(ResumeError::NotVerified.into()),
    }
}

fn in_time(state: &Run, now: Timestamp) -> Result<(), ResumeError> {
    let end = state.session.plan.resume_before();
    if now < end { Ok(()) } else { Err(ResumeError::TooLate(end)) }
}

/// The flags that a command line would have to repeat or leave out.
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
    // Whatever else differs has no flag, and is no less a difference.
    if flags.is_empty() && plan != asked {
        flags.push("its limits, budgets or target".to_owned());
    }
    flags
}
