use serde_json::json;

use super::*;
use crate::claim::Condition;
use crate::claim::intern::Interner;

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

const PATIENCE: SignedDuration = SignedDuration::from_secs(300);

fn pause(looks: Looks, now: i64) -> (i64, Priority) {
    match next(&claim(), looks, None, PATIENCE, at(now)) {
        Next::At(then, priority) => (then.as_second() - at(now).as_second(), priority),
        Next::Never(why) => panic!("{why:?}"),
    }
}

fn looked(count: u32) -> Looks {
    Looks { count, ..Looks::default() }
}

#[test]
fn looks_begin_after_a_minute_and_become_rare() {
    for (count, now, range) in
        [(0, 0, 60..=75), (1, 70, 20..=25), (2, 100, 30..=38), (3, 140, 60..=75), (9, 900, 60..=75)]
    {
        let (pause, priority) = pause(looked(count), now);
        assert!(range.contains(&pause) && priority == Priority::Pending, "{count}: {pause}");
    }
}

#[test]
fn a_claim_that_was_launched_before_we_started_is_looked_at_within_seconds() {
    let (pause, _) = pause(looked(0), 400);
    assert!((0..=1).contains(&pause), "{pause}");
}

#[test]
fn a_trigger_is_looked_at_at_once_and_then_a_few_times_quickly() {
    let quick = |tried| Looks { since_trigger: Some(tried), count: 5, ..Looks::default() };
    assert_eq!(pause(quick(0), 100), (0, Priority::Trigger));
    assert!((1..=2).contains(&pause(quick(1), 100).0));
    assert!((2..=3).contains(&pause(quick(2), 100).0));
    assert!((4..=5).contains(&pause(quick(3), 100).0));
    assert_eq!(next(&claim(), quick(4), None, PATIENCE, at(100)), Next::Never(Why::Exhausted));
}

#[test]
fn a_vm_that_is_gone_is_not_looked_for_any_longer() {
    let gone = Looks { since_trigger: Some(2), missing: 2, count: 2, ..Looks::default() };
    assert_eq!(next(&claim(), gone, None, PATIENCE, at(100)), Next::Never(Why::Exhausted));
    assert!(matches!(
        next(&claim(), Looks { missing: 1, ..gone }, None, PATIENCE, at(100)),
        Next::At(..)
    ));
}

#[test]
fn azure_is_not_asked_again_before_it_wants_to() {
    let throttled = Looks { retry_after_seconds: 90, ..looked(1) };
    assert!(pause(throttled, 100).0 >= 90);
    assert!(pause(Looks { refused: true, ..looked(1) }, 100).0 >= 300);
}

#[test]
fn an_ended_bootstrap_is_not_looked_at_and_an_old_one_neither() {
    let never = |claim: &Claim, held, now| next(claim, looked(1), held, PATIENCE, at(now));
    for held in [Reason::CseFailed, Reason::CseTimedOut] {
        assert_eq!(never(&claim(), Some(held), 100), Next::Never(Why::Ended));
    }
    let old = Claim { registered: Some(at(90)), ..claim() };
    assert_eq!(never(&old, None, 31 * 60), Next::Never(Why::TooOld));
    assert_eq!(
        never(&Claim { launched: None, ..claim() }, None, 100),
        Next::Never(Why::NotLaunched)
    );
    let registered = Claim { registered: Some(at(90)), ..claim() };
    assert_eq!(never(&registered, Some(Reason::NoCseExtension), 100), Next::Never(Why::Ended));
    // Registered alone ends nothing: a late failure still deletes the node.
    assert!(matches!(never(&registered, Some(Reason::CseRunning), 100), Next::At(..)));
}

#[test]
fn a_success_without_a_node_is_looked_at_once_more() {
    let condition = Condition {
        index: 0,
        status: crate::verdict::condition::Status::True,
        reason: "CSESucceeded".into(),
        message: "".into(),
        since: at(120),
    };
    let succeeded = Claim { condition: Some(condition), ..claim() };
    let held = Some(Reason::CseSucceeded);
    assert_eq!(
        next(&succeeded, looked(2), held, PATIENCE, at(130)),
        Next::At(at(420), Priority::Pending)
    );
    let registered = Claim { registered: Some(at(150)), ..succeeded };
    assert_eq!(next(&registered, looked(2), held, PATIENCE, at(130)), Next::Never(Why::Ended));
}

#[test]
fn a_pause_that_azure_asks_for_is_kept_after_a_deletion_too() {
    let deleted = Claim { deleted: Some(at(100)), ..claim() };
    let pause = |retry_after_seconds| {
        let looks =
            Looks { since_trigger: Some(1), count: 1, retry_after_seconds, ..Looks::default() };
        match next(&deleted, looks, None, PATIENCE, at(100)) {
            Next::At(then, Priority::Trigger) => then.duration_since(at(100)).as_secs(),
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
fn a_node_without_an_extension_is_looked_at_before_it_is_given_up_and_when_it_is_not() {
    let look = |last: Option<i64>, now: i64| {
        let looks = Looks { last: last.map(at), ..Looks::default() };
        match next(&scriptless(), looks, Some(Reason::NoCseExtension), PATIENCE, at(now)) {
            Next::At(then, Priority::Pending) => Some(then.as_second() - at(0).as_second()),
            _ => None,
        }
    };
    for (last, now, range) in [
        (None, 0, 300..=315),
        (Some(310), 310, 720..=756),
        (Some(730), 730, 960..=1008),
        (Some(970), 970, 1200..=1260),
        // It was old before it was seen: one look, within a minute.
        (None, 7200, 7200..=7260),
    ] {
        let found = look(last, now);
        assert!(found.is_some_and(|found| range.contains(&found)), "{last:?} {now}: {found:?}");
    }
    assert_eq!(look(Some(1210), 1210), None, "there is nothing more to see");
    let registered = Claim { registered: Some(at(120)), ..scriptless() };
    for held in [None, Some(Reason::NoCseExtension)] {
        let next = next(&registered, looked(0), held, PATIENCE, at(130));
        assert_eq!(next, Next::Never(Why::Ended), "a node that came up costs nothing");
    }
}

#[test]
fn a_node_that_did_not_register_is_never_too_old() {
    for claim in [claim(), scriptless()] {
        let next = next(&claim, looked(0), None, PATIENCE, at(7 * 24 * 3600));
        assert!(matches!(next, Next::At(..)), "{next:?}");
    }
}

#[test]
fn the_queue_gives_triggers_first_then_the_oldest() {
    let mut queue = Queue::default();
    let uid = |name: &str| -> Arc<str> { Arc::from(name) };
    queue.set(&uid("young"), at(10), Priority::Pending, at(5));
    queue.set(&uid("old"), at(10), Priority::Pending, at(1));
    queue.set(&uid("later"), at(99), Priority::Trigger, at(0));
    queue.set(&uid("gone"), at(9), Priority::Trigger, at(9));
    queue.set(&uid("gone"), at(10), Priority::Trigger, at(9));
    assert_eq!((queue.len(), queue.first()), (4, None));
    let mut order = Vec::new();
    queue.advance(at(10));
    while let Some((_, uid)) = queue.first() {
        let uid = Arc::clone(uid);
        order.push(uid.to_string());
        queue.remove(&uid);
    }
    assert_eq!(order, ["gone", "old", "young"]);
    assert_eq!((queue.len(), queue.next_at()), (1, Some(at(99))));
}
