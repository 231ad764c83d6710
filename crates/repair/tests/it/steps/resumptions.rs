//! Authority to continue a run: consent, live state and the tag on the temporary pool.

use jiff::SignedDuration;
use mooring_repair::effects::Effect;
use mooring_repair::names::APPROVAL_TAG;
use mooring_repair::observation::Pool;
use mooring_repair::plan::{HashedPlan, PlanDocument, Step};
use mooring_repair::resume::{
    Consent, Fresh, ResumeBasis, ResumeError, authorize, further_overrides, resume_basis,
};
use mooring_repair::settings::Settings;
use mooring_repair::start_checks::StartError;
use mooring_repair::workflow::{Entry, Run, Session};
use mooring_workflow::Reading;
use mooring_workflow::approval::{Approval, ApprovalToken};
use mooring_workflow::{Finish, Reason, RunOutcome};

use crate::fake::records::{capacity, planned, session};
use crate::fake::scenarios::{overriding, settings};
use crate::fake::{Cloud, Ended, continue_run, undo, until};

pub(crate) fn pools(cloud: &Cloud) -> Vec<Pool> {
    let Reading::Known(pools) = cloud.read_pools() else { panic!() };
    pools
}

fn state(cloud: &Cloud) -> Run {
    cloud.state.clone().unwrap()
}

/// A run with these settings, killed after this step.
fn killed(step: Step, settings: &Settings) -> Cloud {
    until(step, settings, Cloud::wedged).borrow().clone()
}

fn ask(cloud: &Cloud, settings: &Settings, consent: &Consent) -> Result<Session, StartError> {
    let state = state(cloud);
    let basis = resume_basis(&state, &pools(cloud));
    authorize(&state, &basis, &cloud.runs(), settings, consent, None, cloud.now)
}

fn refusal(cloud: &Cloud, settings: &Settings, consent: &Consent) -> ResumeError {
    match ask(cloud, settings, consent) {
        Err(StartError::NotResumed(why)) => why,
        other => panic!("{other:?}"),
    }
}

const UNATTENDED: [Consent; 2] = [Consent::Unattended, Consent::Pipeline];

#[test]
fn footing_follows_live_state() {
    let at = |step| {
        let cloud = killed(step, &settings());
        resume_basis(&state(&cloud), &pools(&cloud))
    };
    for step in [Step::Snapshot, Step::ClearOperation, Step::Recheck] {
        assert_eq!(at(step), ResumeBasis::Replannable, "{step:?}");
    }
    for step in [Step::CreateTemporary, Step::DeletePool, Step::RecreatePool, Step::DrainTemporary]
    {
        assert_eq!(at(step), ResumeBasis::Anchored, "{step:?}");
    }
    assert_eq!(at(Step::DeleteTemporary), ResumeBasis::Harmless);
    let mut cloud = killed(Step::DeletePool, &settings());
    cloud.pools.remove("systmp");
    assert_eq!(resume_basis(&state(&cloud), &pools(&cloud)), ResumeBasis::Unverified);
}

#[test]
fn tag_of_another_plan_run_or_pool_approves_nothing() {
    let plan = format!("v1:{}", "0".repeat(64));
    for (tag, value) in [
        (APPROVAL_TAG, plan.as_str()),
        (APPROVAL_TAG, "v1"),
        ("mooring-run", "another"),
        ("mooring-source", "/subscriptions/s/another"),
    ] {
        let mut cloud = killed(Step::CreateTemporary, &settings());
        cloud.pools.get_mut("systmp").unwrap().edit()["properties"]["tags"][tag] = value.into();
        let typed = Consent::Typed(state(&cloud).session.plan.hash());
        for consent in UNATTENDED.iter().chain([&typed]) {
            let why = refusal(&cloud, &settings(), consent);
            assert!(matches!(why, ResumeError::Contradicted(_)), "{tag} {consent:?}: {why}");
        }
        // The operator's own record of the hash needs no tag.
        let token = Consent::Token(state(&cloud).session.plan.token());
        assert!(ask(&cloud, &settings(), &token).is_ok(), "{tag}");
    }
}

#[test]
fn unattended_resume_requires_the_flags_of_the_run() {
    let cloud = killed(Step::CreateTemporary, &overriding("workloads"));
    for consent in &UNATTENDED {
        let why = refusal(&cloud, &settings(), consent);
        assert_eq!(why, ResumeError::NotRepeated(vec!["--override workloads=ticket 7".into()]));
    }
    let grant = ask(&cloud, &overriding("workloads"), &Consent::Unattended).unwrap();
    assert!(matches!(grant.approval, Approval::Anchored(_)) && grant.overrides.is_empty());
    let cloud = killed(Step::CreateTemporary, &settings());
    let mut other = settings();
    other.fail_threshold = 3;
    other.limits.drain = SignedDuration::from_mins(1);
    let why = refusal(&cloud, &other, &Consent::Unattended);
    assert_eq!(why, ResumeError::NotRepeated(vec!["--fail-threshold 5".into()]));
    other.fail_threshold = settings().fail_threshold;
    other.signatures.signatures[0].errors[0].code = Some("AnotherCode".into());
    let why = refusal(&cloud, &other, &Consent::Unattended);
    assert_eq!(why, ResumeError::NotRepeated(vec!["--signatures".into()]));
    other.signatures = settings().signatures;
    let why = refusal(&cloud, &other, &Consent::Pipeline);
    assert!(matches!(why, ResumeError::NotRepeated(_)), "{why}");
    // Deadline, polling interval and journal of a session are not part of the plan.
    let mut own = settings();
    own.limits.overall = SignedDuration::from_mins(5);
    own.limits.poll = SignedDuration::from_secs(1);
    assert!(ask(&cloud, &own, &Consent::Unattended).is_ok());
}

#[test]
fn more_overrides_need_a_new_approval() {
    let cloud = killed(Step::CreateTemporary, &settings());
    let more = overriding("pdb");
    let why = refusal(&cloud, &more, &Consent::Unattended);
    assert_eq!(why, ResumeError::NotRepeated(vec!["no --override pdb".into()]));
    let plan = state(&cloud).session.plan;
    let base = Consent::Token(plan.token());
    assert_eq!(refusal(&cloud, &more, &base), ResumeError::OtherPlan);
    let extended = plan.with_overrides(&further_overrides(&plan, &more));
    for consent in [Consent::Token(extended.token()), Consent::Typed(extended.hash())] {
        let grant = ask(&cloud, &more, &consent).unwrap();
        assert_eq!(grant.plan, plan, "the tag still approves the run");
        assert_eq!(grant.overrides, more.overrides);
    }
    let typed = ask(&cloud, &more, &Consent::Typed(plan.hash()));
    assert!(matches!(typed, Err(StartError::PlanChanged { .. })), "{typed:?}");
}

#[test]
fn approval_ends_after_a_day_unless_the_name_is_typed_again() {
    let mut cloud = killed(Step::CreateTemporary, &settings());
    let plan = state(&cloud).session.plan;
    assert_eq!(plan.resume_before(), plan.expires + SignedDuration::from_hours(23));
    cloud.now = plan.resume_before() - SignedDuration::from_secs(1);
    assert!(ask(&cloud, &settings(), &Consent::Unattended).is_ok());
    cloud.now = plan.resume_before();
    for consent in UNATTENDED.into_iter().chain([Consent::Token(plan.token())]) {
        let why = refusal(&cloud, &settings(), &consent);
        assert_eq!(why, ResumeError::TooLate(plan.resume_before()), "{consent:?}");
    }
    assert!(ask(&cloud, &settings(), &Consent::Typed(plan.hash())).is_ok());
}

#[test]
fn plan_of_another_version_is_not_continued_unattended() {
    let cloud = killed(Step::CreateTemporary, &settings());
    let mut state = state(&cloud);
    let mut plan = (*state.session.plan).clone();
    plan.tool = "0.0.9".into();
    state.session.plan = HashedPlan::new(plan);
    let ask = |consent: &Consent| {
        let anchored = ResumeBasis::Anchored;
        authorize(&state, &anchored, &cloud.runs(), &settings(), consent, None, cloud.now)
    };
    for consent in &UNATTENDED {
        let why = ask(consent).unwrap_err().to_string();
        assert!(why.contains("0.0.9"), "{why}");
    }
    assert!(ask(&Consent::Typed(state.session.plan.hash())).is_ok());
}

#[test]
fn without_a_tag_a_new_plan_is_approved_or_nothing() {
    let mut cloud = killed(Step::Recheck, &settings());
    // A plan of the same second would be the same plan.
    cloud.now += SignedDuration::from_secs(5);
    let state = state(&cloud);
    let plan = planned(&cloud, &settings(), &capacity()).unwrap();
    let ask = |consent: &Consent, fresh: bool| {
        let fresh = fresh.then_some(Fresh { plan: &plan, checks: &[] });
        let basis = ResumeBasis::Replannable;
        authorize(&state, &basis, &cloud.runs(), &settings(), consent, fresh, cloud.now)
    };
    let hash = plan.document.hash();
    for consent in [Consent::Pipeline, Consent::Typed(hash), Consent::Token(plan.document.token())]
    {
        let grant = ask(&consent, true).unwrap();
        assert_eq!(grant.plan, plan.document, "{consent:?}");
    }
    for (consent, fresh) in [
        (Consent::Unattended, true),
        (Consent::Unattended, false),
        (Consent::Pipeline, false),
        (Consent::Typed(state.session.plan.hash()), true),
        (Consent::Typed(state.session.plan.hash()), false),
    ] {
        assert!(ask(&consent, fresh).is_err(), "{consent:?} {fresh}");
    }
    let zeros = ApprovalToken { hash: "0".repeat(64).parse().unwrap(), ..plan.document.token() };
    assert!(ask(&Consent::Token(zeros), true).is_err());
    let mut gone = cloud.clone();
    gone.pools.remove("system");
    for consent in &UNATTENDED {
        assert_eq!(refusal(&gone, &settings(), consent), ResumeError::NotVerified);
    }
}

#[test]
fn harmless_effects_need_no_approval() {
    let uncordon = Effect::Uncordon { node: "n".into(), uid: "u".into() };
    let tag = |name: &str| Effect::TagCluster { name: name.into(), value: "r".into() };
    let cordon = Effect::Cordon { node: "n".into(), uid: "u".into() };
    let delete = Effect::DeletePool { pool: "system".into(), if_match: None };
    let evict = Effect::Evict { namespace: "a".into(), pod: "b".into(), uid: "u".into() };
    let put = Effect::PutPool { pool: "system".into(), body: serde_json::json!({}), only: None };
    for (effect, none, rollback) in [
        (uncordon, true, true),
        (tag("mooring-run"), true, true),
        (tag("another"), false, false),
        (cordon, false, true),
        (delete, false, true),
        (evict, false, false),
        (put, false, false),
    ] {
        assert_eq!(effect.authority().is_given_by(&Approval::None), none, "{}", effect.key());
        assert_eq!(
            effect.authority().is_given_by(&Approval::Rollback),
            rollback,
            "{}",
            effect.key()
        );
        let hash = state(&killed(Step::Snapshot, &settings())).session.plan.hash();
        assert!(effect.authority().is_given_by(&Approval::Typed(hash)));
    }
}

/// What a run did under one plan does not count under another.
#[test]
fn steps_run_again_under_another_plan() {
    let cloud = killed(Step::DrainPool, &settings());
    let plan = state(&cloud).session.plan;
    let mut other = PlanDocument::clone(&plan);
    other.expires += SignedDuration::from_secs(5);
    for (plan, same) in [(plan, true), (HashedPlan::new(other), false)] {
        let mut resumed = state(&cloud);
        resumed.change(cloud.now, &Entry::Resumed(Box::new(session(&plan, &settings())))).unwrap();
        assert_eq!(resumed.has_done(Step::DrainPool), same);
        assert_eq!(resumed.facts.workloads.contains_key(&Step::DrainPool), same);
    }
}

#[test]
fn process_without_an_approval_stops_at_the_first_effect() {
    for approval in [Approval::None, Approval::Rollback] {
        let cloud = killed(Step::Recheck, &settings());
        let before = cloud.journal.len();
        let mut session = session(&state(&cloud).session.plan, &settings());
        session.approval = approval;
        let end = continue_run(cloud, session);
        let Ended::Stopped(RunOutcome::Resumable { reason, message }) = &end.ended else {
            panic!("{:?}", end.ended)
        };
        assert_eq!(*reason, Reason::NotApproved, "{message}");
        assert!(message.contains("put pool systmp"), "{message}");
        let cloud = end.cloud.borrow();
        let intends = |entry: &Entry| matches!(entry, Entry::Intent(_));
        assert!(!cloud.journal[before..].iter().any(intends));
    }
}

#[test]
fn rollback_keeps_and_reports_a_pool_whose_tags_name_another_run() {
    let plan = format!("v1:{}", "0".repeat(64));
    for (tag, value) in
        [(APPROVAL_TAG, plan.as_str()), ("mooring-run", "another"), ("mooring-source", "/another")]
    {
        let mut cloud = killed(Step::CreateTemporary, &settings());
        cloud.pools.get_mut("systmp").unwrap().edit()["properties"]["tags"][tag] = value.into();
        let end = undo(&cloud, None);
        assert_eq!(end.ended, Ended::Stopped(RunOutcome::Finished(Finish::Aborted)), "{tag}");
        let cloud = end.cloud.borrow();
        assert!(cloud.pools.contains_key("systmp"), "{tag}");
        let Entry::Finished { left, .. } = cloud.journal.last().unwrap() else { panic!() };
        assert!(left.iter().any(|left| left.what.contains("pool systmp was kept")), "{left:?}");
    }
}
