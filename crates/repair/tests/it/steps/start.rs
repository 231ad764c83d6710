//! Checks that block the start of a run, and their overrides.

use crate::fake::records::{begun, capacity};
use crate::fake::scenarios::{overriding, settings};
use crate::fake::{Cloud, undo, until};
use jiff::SignedDuration;
use mooring_repair::checks::Capacity;
use mooring_repair::observation::{ActivityEvent, ClusterView};
use mooring_repair::operation::deletions;
use mooring_repair::plan::Step;
use mooring_repair::settings::Settings;
use mooring_repair::start_checks::StartError;
use mooring_repair::workflow::{Entry, Runs};
use mooring_workflow::Finish;
use mooring_workflow::Reading;
use serde_json::json;

#[test]
fn plan_that_cannot_succeed_is_not_started() {
    let capacity =
        Capacity { vcpus: Reading::Known(4), quota_left: Reading::Known(3), ..capacity() };
    let begun =
        |settings: &Settings| begun(&Runs::default(), &Cloud::wedged(), settings, &capacity);
    let Err(StartError::Blocked(why)) = begun(&settings()) else { panic!() };
    assert!(why.starts_with("quota: "), "{why}");
    assert!(begun(&overriding("quota")).is_ok());
    let mut short = overriding("quota");
    short.limits.overall = SignedDuration::from_secs(1);
    assert!(begun(&short).is_ok(), "a run whose time is short can be resumed");
}

#[test]
fn leftover_pool_is_adopted_without_quota() {
    let cloud = until(Step::VerifyWorkloads, &settings(), Cloud::wedged);
    let end = undo(&cloud.borrow(), None);
    let cloud = end.cloud.borrow();
    let (vcpus, quota_left) = (Reading::Known(4), Reading::Known(0));
    let capacity = Capacity { vcpus, quota_left, ..capacity() };
    let begun = begun(&cloud.runs(), &cloud, &settings(), &capacity);
    assert!(begun.is_ok(), "{begun:?}");
}

#[test]
fn temporary_pool_of_an_unknown_run_is_not_changed() {
    let cloud = until(Step::VerifyTemporary, &settings(), Cloud::wedged);
    let begins = |cloud: &Cloud| begun(&Runs::default(), cloud, &settings(), &capacity());
    let Err(StartError::Blocked(why)) = begins(&cloud.borrow()) else { panic!() };
    assert!(why.contains("systmp is the temporary pool of run run0"), "{why}");
    // Also one without an owner.
    let mut cloud = Cloud::wedged();
    let mut foreign = Cloud::wedged().pools.remove("user").unwrap();
    foreign.edit()["name"] = "systmp".into();
    cloud.pools.insert("systmp".into(), foreign);
    let Err(StartError::Blocked(why)) = begins(&cloud) else { panic!() };
    assert!(why.contains("not created by Mooring"), "{why}");
}

#[test]
fn deletions_by_any_client_count() {
    let cloud = Cloud::wedged();
    let seen = cloud.read_all();
    let cluster = seen.cluster.get().and_then(Reading::known).unwrap().id.clone();
    let event = |pool: &str, verb: &str, correlation: &str, status: &str, hours: i64| {
        let at = (cloud.now - SignedDuration::from_hours(hours)).to_string();
        ActivityEvent::read(&json!({
            "operationName": {"value": format!("Microsoft.ContainerService/managedClusters/agentPools/{verb}")},
            "resourceId": format!("{cluster}/agentPools/{pool}"),
            "status": {"value": status}, "correlationId": correlation, "eventTimestamp": at,
        }))
        .unwrap()
    };
    let count = |events: Vec<ActivityEvent>| {
        let mut seen = seen.clone();
        seen.events = (Reading::Known(events)).into();
        deletions(&seen, "system", cloud.now).known().copied().unwrap()
    };
    let twice = vec![
        event("system", "delete", "a", "Started", 2),
        event("SYSTEM", "delete", "a", "Succeeded", 2),
        event("system", "delete", "b", "Started", 1),
    ];
    assert_eq!(count(twice.clone()), 2);
    let mut others = twice;
    others.extend([
        event("user", "delete", "c", "Succeeded", 1),
        event("system", "write", "d", "Succeeded", 1),
        event("system", "delete", "e", "Succeeded", 24),
        event("system", "delete", "f", "Started", 1),
        event("system", "delete", "f", "Failed", 1),
    ]);
    assert_eq!(count(others), 2, "nor another pool, a write, an old one, or one that failed");
    assert_eq!(deletions(&ClusterView::default(), "system", cloud.now).known(), None);
    for (deletions, begins) in [
        (Reading::Known(1), true),
        (Reading::Known(2), false),
        (Reading::Denied("403".into()), false),
    ] {
        let capacity = Capacity { deletions, ..capacity() };
        let begun = begun(&Runs::default(), &cloud, &settings(), &capacity);
        assert_eq!(begun.is_ok(), begins, "{begun:?}");
    }
}

#[test]
fn recreation_limit_is_overridden_only_with_a_reason() {
    let cloud = until(Step::DeletePool, &settings(), Cloud::wedged);
    let mut first = cloud.borrow().state.clone().unwrap();
    let end = Entry::Finished { finish: Finish::Complete, left: vec![] };
    first.change(cloud.borrow().now, &end).unwrap();
    let mut second = first.clone();
    second.id = "second".to_owned();
    let mut runs = Runs { last: Some(first), past: Vec::new() };
    runs.archive(cloud.borrow().now);
    runs.last = Some(second);
    let mut fresh = Cloud::wedged();
    fresh.now = cloud.borrow().now;
    let begun = |settings: &Settings| begun(&runs, &fresh, settings, &capacity());
    assert!(matches!(begun(&settings()), Err(StartError::TooOften(_))));
    assert!(begun(&overriding("recreations")).is_ok());
}
