//! Regressions: bugs of earlier tools. `docs/TESTING.md` has the whole list.

use mooring_workflow::Stop;
use mooring_workflow::{Finish, Reason, RunOutcome};
use std::cell::RefCell;
use std::rc::Rc;

use crate::fake::records::{begun, capacity, session};
use crate::fake::scenarios::{old_operation, settings};
use crate::fake::{Cloud, Ended, Kill, abort, action_of, resume, run_to_rest};
use jiff::SignedDuration;
use mooring_repair::effects::Effect;
use mooring_repair::start_checks::StartError;
use mooring_repair::workflow::Entry;
use mooring_workflow::EffectResult;

use mooring_repair::observation::ClusterView;
use mooring_repair::workflow::Decision;

/// A run that was killed at a point.
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

/// Canceled parent context: cleanup had no time left.
#[test]
fn rollback_has_a_separate_deadline() {
    let mut settings = settings();
    settings.limits.overall = SignedDuration::from_secs(10);
    let end = run_to_rest(Cloud::wedged(), &settings, &[], None, 0);
    let Ended::Stopped(RunOutcome::Resumable { reason: Reason::Deadline, .. }) = end.ended else {
        panic!("{:?}", end.ended)
    };
    let cloud = end.cloud;
    let later = cloud.borrow().now + SignedDuration::from_mins(90);
    cloud.borrow_mut().advance(later);
    abort(&mut cloud.borrow_mut());
    let ended = resume(&cloud, &settings, &Kill::default(), None);
    assert_eq!(ended, Ended::Stopped(RunOutcome::Finished(Finish::Aborted)));
}

/// A flag to skip a check had no effect.
#[test]
fn override_applies_only_to_its_check() {
    let mut cloud = Cloud::wedged();
    cloud.pools.get_mut("system").unwrap().set_state("Succeeded");
    let mut settings = settings();
    settings.add_override("cluster-state=ticket 7").unwrap();
    let end = run_to_rest(cloud, &settings, &[], None, 0);
    assert_eq!(end.ended, Ended::Stopped(RunOutcome::Finished(Finish::Refused)));
    let mut cloud = Cloud::wedged();
    cloud.pools.get_mut("system").unwrap().set_state("Succeeded");
    settings.add_override("pool-state=ticket 7").unwrap();
    let end = run_to_rest(cloud, &settings, &[], None, 0);
    assert_eq!(end.ended, Ended::Stopped(RunOutcome::Finished(Finish::Complete)));
}

/// A leftover temporary pool was found only after detection reported nothing to do.
#[test]
fn unfinished_run_blocks_a_new_one() {
    let cloud = died(Cloud::wedged, |cloud| !cloud.pools.contains_key("system"));
    let begun = begun(&cloud.borrow().runs(), &Cloud::wedged(), &settings(), &capacity());
    assert!(matches!(begun, Err(StartError::Unfinished(_))), "{begun:?}");
    let ended = resume(&cloud, &settings(), &Kill::default(), None);
    assert_eq!(ended, Ended::Stopped(RunOutcome::Finished(Finish::Complete)));
}

/// Checks were not evaluated again after waiting for the stuck operation.
#[test]
fn pool_that_recovers_during_the_abort_is_not_changed() {
    let cloud = died(old_operation, |cloud| !cloud.aborts.is_empty());
    cloud.borrow_mut().pools.get_mut("system").unwrap().set_state("Succeeded");
    let ended = resume(&cloud, &settings(), &Kill::default(), None);
    assert_eq!(ended, Ended::Stopped(RunOutcome::Finished(Finish::Refused)));
    assert!(!cloud.borrow().pools.contains_key("systmp"));
    assert!(cloud.borrow().deletes.is_empty());
    let last = cloud.borrow().journal.last().unwrap().clone();
    let Entry::Finished { left, .. } = last else { panic!("{last:?}") };
    assert!(left.iter().any(|line| line.what.contains("aborted operation cannot")), "{left:?}");
}

/// A pause kept in memory only was lost with the process.
#[test]
fn retry_after_survives_a_restart() {
    let cloud = died(Cloud::wedged, |cloud| {
        matches!(cloud.journal.last().unwrap(), Entry::Intent(effect)
            if matches!(**effect, Effect::PutPool { .. }))
    });
    let mut cloud = cloud.borrow_mut();
    let now = cloud.now;
    let refused = EffectResult::Refused {
        status: 429,
        code: "TooManyRequests".into(),
        message: String::new(),
        retry_after: Some(SignedDuration::from_mins(5)),
    };
    for entry in [
        Entry::Outcome { key: "put pool systmp".into(), result: refused },
        Entry::Resumed(Box::new(session(&cloud.state.as_ref().unwrap().session.plan, &settings()))),
    ] {
        cloud.change(&entry);
    }
    let state = cloud.state.clone().unwrap();
    cloud.now = now + SignedDuration::from_secs(1);
    let action = action_of(&state, ClusterView::default(), &cloud);
    let Decision::Wait { until, .. } = action else { panic!("{action:?}") };
    assert_eq!(until, now + SignedDuration::from_mins(5));
}

/// A request was retried although the operation failed permanently.
#[test]
fn creation_without_quota_stops_with_the_reason() {
    let cloud = died(
        Cloud::wedged,
        |cloud| matches!(cloud.journal.last().unwrap(), Entry::Outcome { key, .. } if key == "put pool systmp"),
    );
    let mut cloud = cloud.borrow_mut();
    cloud.pools.get_mut("systmp").unwrap().set_state("Failed");
    let state = cloud.state.clone().unwrap();
    let token = state.attempt("put pool systmp").unwrap().token.clone().unwrap();
    cloud.failed.insert(token, vec!["ErrCode_InsufficientVCPUQuota".into()]);
    let action = action_of(&state, ClusterView::default(), &cloud);
    let Decision::Stop(Stop { reason: Reason::EffectRefused, message, .. }) = action else {
        panic!("{action:?}")
    };
    assert!(message.contains("InsufficientVCPUQuota"), "{message}");
}
