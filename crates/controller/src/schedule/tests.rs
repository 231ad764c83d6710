use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::claim::vm_id::Interner;
use mooring_nodes::claim::{Claim, Condition};
use mooring_nodes::verdict::ConditionReason;
use serde_json::json;

use super::next_read::{
    expects_no_extension, late_read_at, next_fixed_read, next_quick_read, spread,
};
use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn claim() -> Claim {
    let object = json!({
        "metadata": {"name": "c", "uid": "u", "resourceVersion": "7", "creationTimestamp": at(-5).to_string()},
        "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "name": "default"}},
        "status": {"providerID": "azure:///subscriptions/0/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/aks-c",
                   "conditions": [{"type": "Launched", "status": "True", "lastTransitionTime": at(0).to_string()}]}
    });
    Claim::from_json(object.to_string().as_bytes(), "CSEProvisioned", &mut Interner::default())
        .unwrap()
}

const TIMEOUT: SignedDuration = SignedDuration::from_secs(300);

fn pause(history: ReadHistory, now: i64) -> (i64, QueuePriority) {
    match next(&claim(), history, None, TIMEOUT, at(now)) {
        NextRead::At(then, priority) => (then.as_second() - at(now).as_second(), priority),
        NextRead::Never(why) => panic!("{why:?}"),
    }
}

fn history_of(count: u32) -> ReadHistory {
    ReadHistory { count, ..ReadHistory::default() }
}

#[test]
fn reads_begin_after_a_minute_and_become_rare() {
    for (count, now, range) in
        [(0, 0, 60..=75), (1, 70, 20..=25), (2, 100, 30..=38), (3, 140, 60..=75), (9, 900, 60..=75)]
    {
        let (pause, priority) = pause(history_of(count), now);
        assert!(range.contains(&pause) && priority == QueuePriority::Pending, "{count}: {pause}");
    }
}

#[test]
fn first_read_is_not_moved_when_it_is_due() {
    let read = |now| next(&claim(), history_of(0), None, TIMEOUT, now);
    let NextRead::At(first, _) = read(at(0)) else { panic!("no read") };
    assert_eq!(read(first), NextRead::At(first, QueuePriority::Pending));
}

#[test]
fn claim_launched_before_the_start_is_read_within_seconds() {
    let (pause, _) = pause(history_of(0), 400);
    assert!((0..=1).contains(&pause), "{pause}");
}

#[test]
fn deleted_claim_is_read_at_once_and_a_few_times_quickly() {
    let quick =
        |tried| ReadHistory { since_trigger: Some(tried), count: 5, ..ReadHistory::default() };
    assert_eq!(pause(quick(0), 100), (0, QueuePriority::Trigger));
    assert!((1..=2).contains(&pause(quick(1), 100).0));
    assert!((2..=3).contains(&pause(quick(2), 100).0));
    assert!((4..=5).contains(&pause(quick(3), 100).0));
    assert_eq!(
        next(&claim(), quick(4), None, TIMEOUT, at(100)),
        NextRead::Never(NoReadReason::Exhausted)
    );
}

#[test]
fn missing_vm_is_not_read_again() {
    let gone =
        ReadHistory { since_trigger: Some(2), missing: 2, count: 2, ..ReadHistory::default() };
    assert_eq!(
        next(&claim(), gone, None, TIMEOUT, at(100)),
        NextRead::Never(NoReadReason::Exhausted)
    );
    assert!(matches!(
        next(&claim(), ReadHistory { missing: 1, ..gone }, None, TIMEOUT, at(100)),
        NextRead::At(..)
    ));
}

#[test]
fn retry_after_of_azure_is_respected() {
    let throttled = ReadHistory { retry_after_seconds: 90, ..history_of(1) };
    assert!(pause(throttled, 100).0 >= 90);
    assert!(pause(ReadHistory { denied: true, ..history_of(1) }, 100).0 >= 300);
}

#[test]
fn finished_or_old_bootstrap_is_not_read() {
    let never = |claim: &Claim, held, now| next(claim, history_of(1), held, TIMEOUT, at(now));
    for held in [ConditionReason::CseFailed, ConditionReason::CseTimedOut] {
        assert_eq!(never(&claim(), Some(held), 100), NextRead::Never(NoReadReason::Ended));
    }
    let old = Claim { registered: Some(at(90)), ..claim() };
    assert!(matches!(never(&old, None, 1800), NextRead::At(..)));
    assert_eq!(never(&old, None, 1801), NextRead::Never(NoReadReason::TooOld));
    assert_eq!(
        never(&Claim { launched: None, ..claim() }, None, 100),
        NextRead::Never(NoReadReason::NotLaunched)
    );
    let registered = Claim { registered: Some(at(90)), ..claim() };
    assert_eq!(
        never(&registered, Some(ConditionReason::NoCseExtension), 100),
        NextRead::Never(NoReadReason::Ended)
    );
    // Registration alone is not final: a late failure still deletes the node.
    assert!(matches!(never(&registered, Some(ConditionReason::CseRunning), 100), NextRead::At(..)));
}

#[test]
fn success_without_a_node_is_read_again() {
    let condition = Condition {
        index: 0,
        status: mooring_nodes::verdict::ConditionStatus::True,
        reason: "CSESucceeded".into(),
        message: "".into(),
        since: at(120),
    };
    let succeeded = Claim { condition: Some(condition), ..claim() };
    let held = Some(ConditionReason::CseSucceeded);
    assert_eq!(
        next(&succeeded, history_of(2), held, TIMEOUT, at(130)),
        NextRead::At(at(420), QueuePriority::Pending)
    );
    let registered = Claim { registered: Some(at(150)), ..succeeded };
    assert_eq!(
        next(&registered, history_of(2), held, TIMEOUT, at(130)),
        NextRead::Never(NoReadReason::Ended)
    );
}

#[test]
fn retry_after_of_azure_is_respected_after_deletion() {
    let deleted = Claim { deleted: Some(at(100)), ..claim() };
    let pause = |retry_after_seconds| {
        let history = ReadHistory {
            since_trigger: Some(1),
            count: 1,
            retry_after_seconds,
            ..ReadHistory::default()
        };
        match next(&deleted, history, None, TIMEOUT, at(100)) {
            NextRead::At(then, QueuePriority::Trigger) => then.duration_since(at(100)).as_secs(),
            other => panic!("{other:?}"),
        }
    };
    assert!((1..=2).contains(&pause(0)), "{}", pause(0));
    assert!((30..=38).contains(&pause(30)), "{}", pause(30));
}

fn scriptless() -> Claim {
    let image = "/CommunityGalleries/AKSUbuntu-x/images/2204gen2containerd/versions/202601.13.0";
    Claim { image: Some(image.into()), unregistered_since: at(0), ..claim() }
}

#[test]
fn node_without_extension_is_read_before_and_after_timeout() {
    let read_at = |last: Option<i64>, now: i64| {
        let history = ReadHistory { last: last.map(at), ..ReadHistory::default() };
        match next(&scriptless(), history, Some(ConditionReason::NoCseExtension), TIMEOUT, at(now))
        {
            NextRead::At(then, QueuePriority::Pending) => {
                Some(then.as_second() - at(0).as_second())
            }
            _ => None,
        }
    };
    for (last, now, range) in [
        (None, 0, 300..=315),
        (Some(310), 310, 720..=756),
        (Some(730), 730, 960..=1008),
        (Some(970), 970, 1200..=1260),
        // Overdue before it was observed: one read, within a minute.
        (None, 7200, 7200..=7260),
    ] {
        let found = read_at(last, now);
        assert!(found.is_some_and(|found| range.contains(&found)), "{last:?} {now}: {found:?}");
    }
    assert_eq!(read_at(Some(1210), 1210), None, "there is nothing more to see");
    let registered = Claim { registered: Some(at(120)), ..scriptless() };
    for held in [None, Some(ConditionReason::NoCseExtension)] {
        let next = next(&registered, history_of(0), held, TIMEOUT, at(130));
        assert_eq!(next, NextRead::Never(NoReadReason::Ended), "a node that came up costs nothing");
    }
}

#[test]
fn unregistered_node_is_never_too_old() {
    for claim in [claim(), scriptless()] {
        let next = next(&claim, history_of(0), None, TIMEOUT, at(7 * 24 * 3600));
        assert!(matches!(next, NextRead::At(..)), "{next:?}");
    }
}

#[test]
fn queue_returns_triggers_first_then_the_oldest() {
    let mut queue = Queue::default();
    assert!(queue.is_empty());
    let uid = |name: &str| -> Arc<str> { Arc::from(name) };
    queue.set(&uid("young"), at(10), QueuePriority::Pending, at(5));
    queue.set(&uid("old"), at(10), QueuePriority::Pending, at(1));
    queue.set(&uid("later"), at(99), QueuePriority::Trigger, at(0));
    queue.set(&uid("gone"), at(9), QueuePriority::Trigger, at(9));
    queue.set(&uid("gone"), at(10), QueuePriority::Trigger, at(9));
    assert_eq!((queue.len(), queue.first()), (4, None));
    let mut order = Vec::new();
    queue.advance(at(10));
    assert_eq!((queue.waiting(), queue.uids().count(), queue.is_empty()), (3, 4, false));
    while let Some((_, uid)) = queue.first() {
        let uid = Arc::clone(uid);
        order.push(uid.to_string());
        queue.remove(&uid);
    }
    assert_eq!(order, ["gone", "old", "young"]);
    assert_eq!((queue.len(), queue.next_at()), (1, Some(at(99))));
}

fn millis(milliseconds: i64) -> Timestamp {
    at(0) + SignedDuration::from_millis(milliseconds)
}

#[test]
fn pause_grows_by_at_most_a_quarter() {
    for (seconds, jitter, expected) in
        [(60, 0.0, 60_000), (60, 0.5, 67_500), (60, 1.0, 75_000), (4, 0.5, 4_500), (0, 0.5, 0)]
    {
        assert_eq!(spread(seconds, jitter), SignedDuration::from_millis(expected), "{seconds}");
    }
}

#[test]
fn fixed_read_is_at_most_a_twentieth_late() {
    let read = |last: Option<i64>, retry_after_seconds, jitter, now| {
        let history =
            ReadHistory { last: last.map(millis), retry_after_seconds, ..ReadHistory::default() };
        match next_fixed_read(&scriptless(), history, jitter, millis(now)) {
            NextRead::At(at, QueuePriority::Pending) => Some(at),
            _ => None,
        }
    };
    for (last, retry_after, jitter, now, expected) in [
        (None, 0, 0.5, 0, 307_500),
        (None, 0, 1.0, 0, 315_000),
        (None, 0, 0.5, 307_500, 307_500),
        // Late, and not overdue.
        (None, 0, 0.5, 307_600, 308_100),
        (Some(299_000), 0, 0.5, 299_000, 307_500),
        (Some(300_000), 0, 0.5, 300_000, 738_000),
        (Some(310_000), 0, 0.5, 800_000, 800_000),
        (Some(310_000), 90, 0.5, 800_000, 890_000),
        (Some(310_000), 90, 0.5, 400_000, 738_000),
    ] {
        let found = read(last, retry_after, jitter, now);
        assert_eq!(found, Some(millis(expected)), "{last:?} {retry_after} {jitter} {now}");
    }
    assert_eq!(read(Some(1_200_000), 0, 0.5, 1_200_000), None);
    assert_eq!(late_read_at(&scriptless(), 0.5, at(7200)), at(7230), "overdue before");
}

#[test]
fn extension_is_not_expected_by_mode_or_by_an_earlier_read() {
    use ConditionReason::{CseNotCreated, CseRunning, CseStatusUnavailable, NoCseExtension};
    for (held, vm, community) in [
        (None, false, true),
        (Some(NoCseExtension), true, true),
        (Some(CseNotCreated), true, true),
        (Some(CseRunning), false, false),
        (Some(CseStatusUnavailable), false, true),
    ] {
        assert_eq!(expects_no_extension(&claim(), held), vm, "{held:?}");
        assert_eq!(expects_no_extension(&scriptless(), held), community, "{held:?}");
    }
    let due = |claim: &Claim, now| is_fixed_read_due(claim, history_of(0), None, at(now));
    assert!(due(&scriptless(), 300) && !due(&scriptless(), 299) && !due(&claim(), 300));
}

#[test]
fn deleted_claim_without_an_extension_needs_one_result() {
    let read = |held, last: Option<i64>, missing| {
        let history = ReadHistory { last: last.map(at), missing, ..ReadHistory::default() };
        matches!(next_quick_read(&claim(), 1, history, held, at(100)), NextRead::At(..))
    };
    for (held, last, missing, again) in [
        (Some(ConditionReason::CseSucceeded), Some(99), 0, false),
        (Some(ConditionReason::CseSucceeded), None, 0, true),
        (Some(ConditionReason::CseSucceeded), Some(99), 1, true),
        (Some(ConditionReason::NoCseExtension), Some(99), 0, false),
        (Some(ConditionReason::NoCseExtension), None, 0, true),
        (Some(ConditionReason::CseRunning), Some(99), 0, true),
        (None, Some(99), 0, true),
    ] {
        assert_eq!(read(held, last, missing), again, "{held:?} {last:?} {missing}");
    }
}

#[test]
fn late_reads_after_a_success_have_pauses() {
    let condition = Condition {
        index: 0,
        status: mooring_nodes::verdict::ConditionStatus::True,
        reason: "CSESucceeded".into(),
        message: "".into(),
        since: at(0),
    };
    let succeeded = Claim { condition: Some(condition), ..claim() };
    let read = |claim: &Claim, history, now| match next(
        claim,
        history,
        Some(ConditionReason::CseSucceeded),
        TIMEOUT,
        at(now),
    ) {
        NextRead::At(at, QueuePriority::Pending) => Some(at),
        _ => None,
    };
    let late = |late, retry_after_seconds| ReadHistory {
        retry_after_seconds,
        late,
        ..ReadHistory::default()
    };
    for (history, now, expected) in [
        (late(0, 90), 100, 300),
        (late(0, 90), 310, 310),
        (late(1, 0), 310, 330),
        (late(1, 90), 310, 400),
        (ReadHistory { not_before: Some(at(500)), ..late(0, 0) }, 310, 500),
        (ReadHistory { not_before: Some(at(200)), ..late(0, 0) }, 100, 300),
    ] {
        assert_eq!(read(&succeeded, history, now), Some(at(expected)), "{history:?} {now}");
    }
    let deleted = Claim { deleted: Some(at(50)), ..succeeded.clone() };
    assert_eq!(read(&deleted, late(0, 0), 310), None);
    let triggered = ReadHistory { since_trigger: Some(0), ..late(0, 0) };
    assert_eq!(
        next(&deleted, triggered, Some(ConditionReason::CseSucceeded), TIMEOUT, at(310)),
        NextRead::At(at(310), QueuePriority::Trigger)
    );
}

#[test]
fn overdue_claim_is_read_again_for_an_idle_karpenter() {
    let read = |claim: &Claim, idle_reported, now| {
        let history = ReadHistory { idle_reported, ..history_of(3) };
        next(claim, history, Some(ConditionReason::NodeNotRegistered), TIMEOUT, at(now))
    };
    let overdue = scriptless();
    assert_eq!(read(&overdue, false, 1000), NextRead::At(at(1200), QueuePriority::Pending));
    assert_eq!(read(&overdue, false, 1300), NextRead::At(at(1300), QueuePriority::Pending));
    let ended = NextRead::Never(NoReadReason::Ended);
    assert_eq!(read(&overdue, true, 1000), ended);
    assert_eq!(read(&Claim { deleted: Some(at(900)), ..overdue.clone() }, false, 1000), ended);
    assert_eq!(read(&Claim { registered: Some(at(900)), ..overdue }, false, 1000), ended);
}

#[test]
fn denied_scriptless_node_is_read_after_five_minutes() {
    let history = ReadHistory { denied: true, last: Some(at(310)), ..history_of(1) };
    let next = next(&scriptless(), history, None, TIMEOUT, at(310));
    let NextRead::At(then, QueuePriority::Pending) = next else { panic!("{next:?}") };
    assert!((300..=375).contains(&then.duration_since(at(310)).as_secs()), "{then}");
}

mod rate_limit {
    use mooring_arm::Bucket;

    use super::*;

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(1_800_000_000_000 + milliseconds).unwrap()
    }

    fn reads() -> Bucket {
        Bucket::full(controller_limits().reads, at(0))
    }

    #[test]
    fn rate_limit_is_half_of_the_azure_limit() {
        let mut limit = reads();
        let taken =
            (0..60_000).step_by(10).filter(|now| limit.take(at(*now), 1, 0).is_ok()).count();
        assert!((870..=875).contains(&taken), "125 + 60 s × 12.5 = 875, was {taken}");
    }

    #[test]
    fn events_request_at_most_60_reads_per_minute() {
        let mut limit = Bucket::full(EVENT_READS, at(0));
        let may = |now: &i64| limit.take(at(*now), 1, 0).is_ok();
        let taken: Vec<i64> = (0..300_000).step_by(10).filter(may).collect();
        for (first, from) in taken.iter().enumerate() {
            let within = taken[first..].iter().take_while(|at| **at < from + 60_000).count();
            assert!(within <= 60, "{within} from {from} ms on");
        }
        assert_eq!(taken.len(), 30 + 149);
    }

    #[test]
    fn background_reads_leave_enough_for_200_failures_at_once() {
        let mut limit = reads();
        while limit.take(at(0), 1, TRIGGER_RESERVE).is_ok() {}
        let mut now = 0;
        let mut read = 0;
        while read < 200 {
            if limit.take(at(now), 1, 0).is_ok() { read += 1 } else { now += 10 }
        }
        assert!(now <= 9_000, "{now} ms");
    }
}
