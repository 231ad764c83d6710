//! Bugs that earlier tools of this kind had, each as a promise. `docs/TESTING.md` has the whole list.

use mooring_workflow::Stop;
use std::cell::RefCell;
use std::rc::Rc;

use crate::fake::records::{around, begun, planned, session};
use crate::fake::scenarios::{old_operation, settings};
use crate::fake::{Cloud, Ended, Kill, abort, decided, resume, run_to_rest};
use jiff::SignedDuration;
use mooring_repair::begin::BeginError;
use mooring_repair::effects::Effect;
use mooring_repair::workflow::{Entry, Finish};
use mooring_workflow::EffectResult;
use mooring_workflow::journal::follow;

use mooring_repair::observation::{ClusterView, Query};
use mooring_repair::workflow::RunOutcome;
use mooring_repair::workflow::{Decision, Reason, Run};

/// A run that died at a point.
fn died(make: impl Fn() -> Cloud, when: impl Fn(&Cloud) -> bool) -> Rc<RefCell<Cloud>> {
    for point in 0..500 {
        let cloud = Rc::new(RefCell::new(make()));
        assert_eq!(resume(&cloud, &settings(), &Kill::at(point), None), Ended::Killed);
        if when(&cloud.borrow()) {
            return cloud;
        }
    }
    panic!("that never happened");
}

/// Cancelled parent context: what was meant to clean up ran on time that was already up.
#[test]
fn undoing_has_time_of_its_own_after_the_deadline() {
    let mut settings = settings();
    settings.limits.overall = SignedDuration::from_secs(10);
    let end = run_to_rest(Cloud::wedged(), &settings, &[], None, 0);
    let Ended::Rested(RunOutcome::Resumable { reason: Reason::Deadline, .. }) = end.ended else {
        panic!("{:?}", end.ended)
    };
    let cloud = end.cloud;
    let later = cloud.borrow().now + SignedDuration::from_mins(90);
    cloud.borrow_mut().advance(later);
    abort(&mut cloud.borrow_mut());
    let ended = resume(&cloud, &settings, &Kill::default(), None);
    assert_eq!(ended, Ended::Rested(RunOutcome::Finished(Finish::Aborted)));
}

/// No target left, but the running operation was aborted all the same.
#[test]
fn without_the_pool_no_operation_is_aborted() {
    let cloud = died(old_operation, |cloud| cloud.journal.len() == 1);
    cloud.borrow_mut().pools.remove("system");
    let ended = resume(&cloud, &settings(), &Kill::default(), None);
    assert_eq!(ended, Ended::Rested(RunOutcome::Finished(Finish::Refused)));
    assert_eq!(cloud.borrow().aborts, Vec::<String>::new());
    assert!(planned(&cloud.borrow(), &settings(), &around()).is_err());
}

/// A flag to skip a guard that had no effect.
#[test]
fn an_override_takes_effect_for_the_guard_that_it_names_and_no_other() {
    let mut cloud = Cloud::wedged();
    cloud.pools.get_mut("system").unwrap().set_state("Succeeded");
    let mut settings = settings();
    settings.add_override("cluster-state=ticket 7").unwrap();
    let end = run_to_rest(cloud, &settings, &[], None, 0);
    assert_eq!(end.ended, Ended::Rested(RunOutcome::Finished(Finish::Refused)));
    let mut cloud = Cloud::wedged();
    cloud.pools.get_mut("system").unwrap().set_state("Succeeded");
    settings.add_override("pool-state=ticket 7").unwrap();
    let end = run_to_rest(cloud, &settings, &[], None, 0);
    assert_eq!(end.ended, Ended::Rested(RunOutcome::Finished(Finish::Repaired)));
}

/// A left-over temporary pool was found only after detection had said that there is nothing to do.
#[test]
fn a_run_that_is_not_over_comes_before_any_new_one() {
    let cloud = died(Cloud::wedged, |cloud| !cloud.pools.contains_key("system"));
    let begun = begun(&cloud.borrow().journal, &Cloud::wedged(), &settings(), &around());
    assert!(matches!(begun, Err(BeginError::Unfinished(_))), "{begun:?}");
    let ended = resume(&cloud, &settings(), &Kill::default(), None);
    assert_eq!(ended, Ended::Rested(RunOutcome::Finished(Finish::Repaired)));
}

/// Guards were not evaluated again after waiting for the stuck operation.
#[test]
fn a_pool_that_recovers_while_the_operation_is_aborted_is_left_alone() {
    let cloud = died(old_operation, |cloud| !cloud.aborts.is_empty());
    cloud.borrow_mut().pools.get_mut("system").unwrap().set_state("Succeeded");
    let ended = resume(&cloud, &settings(), &Kill::default(), None);
    assert_eq!(ended, Ended::Rested(RunOutcome::Finished(Finish::Refused)));
    assert!(!cloud.borrow().pools.contains_key("systmp"));
    assert!(cloud.borrow().deletes.is_empty());
    let last = cloud.borrow().journal.last().unwrap().entry.clone();
    let Entry::Finished { left, .. } = last else { panic!("{last:?}") };
    assert!(left.iter().any(|line| line.contains("that was aborted cannot")), "{left:?}");
}

/// A pause kept in memory only was lost with the process.
#[test]
fn a_pause_that_the_service_asked_for_survives_a_restart() {
    let cloud = died(Cloud::wedged, |cloud| {
        matches!(&cloud.journal.last().unwrap().entry, Entry::Intent { effect, .. }
            if matches!(**effect, Effect::PutPool { .. }))
    });
    let mut cloud = cloud.borrow_mut();
    let (run, now) = (cloud.state.as_ref().unwrap().id.clone(), cloud.now);
    let refused = EffectResult::Refused {
        status: 429,
        code: "TooManyRequests".into(),
        message: String::new(),
        retry_after: Some(SignedDuration::from_mins(5)),
    };
    for entry in [
        Entry::Outcome { key: "put pool systmp".into(), result: refused },
        Entry::Resumed(session(&cloud.state.as_ref().unwrap().session.plan, &settings())),
    ] {
        let record = follow(cloud.journal.last(), &run, now, entry);
        cloud.append(&record);
    }
    let state = Run::replay(&cloud.journal).unwrap().unwrap();
    let later = now + SignedDuration::from_secs(1);
    let action = decided(&state, ClusterView::default(), later, |query| cloud.observe(query));
    let Decision::Wait { until, .. } = action else { panic!("{action:?}") };
    assert_eq!(until, now + SignedDuration::from_mins(5));
}

/// The same request was sent again and again although the operation had said that it is hopeless.
#[test]
fn a_creation_that_lacks_quota_stops_and_says_so() {
    let cloud = died(
        Cloud::wedged,
        |cloud| matches!(&cloud.journal.last().unwrap().entry, Entry::Outcome { key, .. } if key == "put pool systmp"),
    );
    let mut cloud = cloud.borrow_mut();
    cloud.pools.get_mut("systmp").unwrap().set_state("Failed");
    let state = Run::replay(&cloud.journal).unwrap().unwrap();
    let action = decided(&state, ClusterView::default(), cloud.now, |query| match query {
        Query::Operation(token) => {
            let operation = mooring_repair::observation::Operation {
                name: "o".into(),
                status: "Failed".into(),
                started: None,
                ended: None,
                pool: None,
                codes: vec!["ErrCode_InsufficientVCPUQuota".into()],
            };
            let known = mooring_workflow::Reading::Known(operation);
            mooring_repair::observation::Answer::Operation(token.clone(), known)
        }
        query => cloud.observe(query),
    });
    let Decision::Stop(Stop { reason: Reason::EffectRefused, message, .. }) = action else {
        panic!("{action:?}")
    };
    assert!(message.contains("InsufficientVCPUQuota"), "{message}");
}
