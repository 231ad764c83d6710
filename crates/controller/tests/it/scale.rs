//! Costs of many NodeClaims, under virtual time.

use std::collections::BTreeMap;

use mooring_controller::state::ReadTarget;
use mooring_controller::{Action, Input, Observation, State};
use mooring_nodes::Claim;
use mooring_nodes::record::counts::Filter;
use serde_json::json;

use crate::world::azure::{Azure, SUCCEEDED, Vm, failed};
use crate::world::scenario::claim;
use crate::world::{Change, World, at, run, settings};

/// A joined NodeClaim, with Mooring's condition or without.
fn up(name: &str, condition: bool) -> serde_json::Value {
    let mut object = claim(name, "202601.13.0", false, -7_200);
    let conditions = object["status"]["conditions"].as_array_mut().unwrap();
    conditions[1]["status"] = json!("True");
    if condition {
        conditions
            .push(json!({"type": "CSEProvisioned", "status": "True", "reason": "CSESucceeded",
            "message": "CSE succeeded.", "lastTransitionTime": at(-7_100).to_string()}));
    }
    object
}

#[test]
fn stable_cluster_costs_nothing_from_the_first_start() {
    for known in [true, false] {
        let mut world = World::new(Azure::default());
        for number in 0..5_000 {
            world.put(up(&format!("default-{number}"), known));
        }
        run(&mut world, &[], 3_600, |_, out| out);
        assert_eq!((world.writes.reads, world.writes.total()), (0, 0));
    }
}

#[test]
fn claim_costs_less_than_1_kib_at_any_count() {
    for count in [5_000, 50_000] {
        let mut interner = mooring_nodes::claim::vm_id::Interner::default();
        let mut state = State::new(settings(), at(0));
        state.handle(Input::Leads(true), at(0));
        for number in 0..count {
            let object = up(&format!("default-{number}"), true).to_string();
            let claim =
                Claim::from_json(object.as_bytes(), "CSEProvisioned", &mut interner).unwrap();
            assert!(state.handle(Input::Claim(Box::new(claim)), at(0)).is_empty());
        }
        let bytes = state.bytes_per_claim();
        println!("{count} claims: {bytes} bytes each");
        assert!(bytes < 1024, "{count}: {bytes}");
        assert!(interner.len() < 64, "{}", interner.len());
        assert_eq!(state.wake_at(at(0)), None);
    }
}

/// `count` NodeClaims that fail at 90 s, announced by Karpenter at 100 s or not.
fn failing(count: u32, announced: bool) -> (Azure, Vec<(i64, Change)>) {
    let mut vms = BTreeMap::new();
    let mut changes = Vec::new();
    for number in 0..count {
        let name = format!("default-{number}");
        let text =
            "Failed to register: creating VM CSE for VM: VMExtensionProvisioningError".to_owned();
        vms.insert(
            format!("aks-{name}"),
            Vm { ready_at: 40, ends: Some((98, failed(50, ""))), deleted_at: 1_000, status: 200 },
        );
        changes.push((
            0,
            Change::Launch { name: name.clone(), image: "202601.27.0".into(), machine: false },
        ));
        if announced {
            changes.push((100, Change::GiveUp(name, text)));
        }
    }
    changes.sort_by_key(|(when, _)| *when);
    (Azure { vms, ..Azure::default() }, changes)
}

#[test]
fn two_hundred_announced_failures_are_written_in_10s() {
    let (azure, changes) = failing(200, true);
    let mut world = World::new(azure);
    run(&mut world, &changes, 300, |_, out| out);
    let latest = world.patched_at.values().max().unwrap();
    println!(
        "200 announced at 100 s, the last written at {latest} s, {} reads",
        world.writes.reads
    );
    assert_eq!(world.patched_at.len(), 200);
    // Events request at most 60 reads a minute; a list shows which of the others failed, and those are read.
    assert!(*latest <= 110, "{latest}");
}

#[test]
fn many_claims_are_swept_and_only_failures_are_read() {
    let (mut azure, mut changes) = failing(20, false);
    for number in 20..1_000 {
        let name = format!("default-{number}");
        azure.vms.insert(
            format!("aks-{name}"),
            Vm {
                ready_at: 40,
                ends: Some((100, SUCCEEDED.into())),
                deleted_at: 99_999,
                status: 200,
            },
        );
        changes.push((
            0,
            Change::Launch { name: name.clone(), image: "202601.27.0".into(), machine: false },
        ));
        changes.push((110, Change::Register(name)));
    }
    changes.sort_by_key(|(when, _)| *when);
    let mut world = World::new(azure);
    run(&mut world, &changes, 600, |_, out| out);
    println!("1,000 at once: {} reads, {} sweeps", world.writes.reads, world.writes.sweeps);
    assert!(
        world.writes.reads <= 400 && world.writes.sweeps >= 3,
        "{} {}",
        world.writes.reads,
        world.writes.sweeps
    );
    let reported = |reason: &str| {
        world.picture()["conditions"]
            .as_object()
            .unwrap()
            .values()
            .filter(|c| c[1] == reason)
            .count()
    };
    assert_eq!((reported("CSESucceeded"), reported("CSEFailed")), (980, 20));
}

#[test]
fn failing_image_is_announced_once_on_class_and_pool() {
    let (azure, changes) = failing(12, true);
    let mut world = World::new(azure);
    for number in 0..20 {
        world.put(up(&format!("old-{number}"), true));
    }
    run(&mut world, &changes, 300, |_, out| out);
    let reported: Vec<_> =
        world.events.values().filter(|event| event["reason"] == "ImageFailsBootstrap").collect();
    assert_eq!(reported.len(), 2);
    assert!(reported.iter().any(|event| event["regarding"]["kind"] == "AKSNodeClass"
        && event["regarding"]["uid"] == "class-uid"));
    let note = reported[0]["note"].as_str().unwrap();
    assert!(
        note.starts_with("Image g/i/202601.27.0: ")
            && note.contains(" failed with OutboundConnFail. Other images: 0 of 20. "),
        "{note}"
    );
}

#[test]
fn denied_read_is_reported_once_and_retried_rarely() {
    let (mut azure, changes) = failing(1, false);
    azure.vms.values_mut().for_each(|vm| (vm.status, vm.deleted_at) = (403, 99_999));
    let mut world = World::new(azure);
    run(&mut world, &changes, 900, |_, out| out);
    assert!(world.writes.reads <= 4, "{}", world.writes.reads);
    assert_eq!(world.writes.total(), 1);
    let shown = world.picture()["conditions"]["default-0"].clone();
    assert_eq!((&shown[0], &shown[1]), (&json!("Unknown"), &json!("CSEStatusUnavailable")));
    // The missing registration needs no read.
    run(&mut world, &[], 1_500, |_, out| out);
    assert!(world.writes.reads <= 8, "{}", world.writes.reads);
    let shown = world.picture()["conditions"]["default-0"].clone();
    assert_eq!((&shown[0], &shown[1]), (&json!("False"), &json!("NodeNotRegistered")));
    assert!(shown[2].as_str().unwrap().contains("the Reader role"), "{shown}");
}

#[test]
fn missing_response_does_not_stop_reads() {
    let mut interner = mooring_nodes::claim::vm_id::Interner::default();
    let mut state = State::new(settings(), at(0));
    state.handle(Input::Leads(true), at(0));
    let object = claim("default-1", "202601.27.0", false, 0).to_string();
    let mut object = serde_json::from_str::<serde_json::Value>(&object).unwrap();
    object["metadata"]["resourceVersion"] = json!("1");
    let claim =
        Claim::from_json(object.to_string().as_bytes(), "CSEProvisioned", &mut interner).unwrap();
    state.handle(Input::Claim(Box::new(claim)), at(0));
    let mut reads = 0;
    for now in 0..400 {
        for action in state.handle(Input::Tick, at(now)) {
            reads += i32::from(
                matches!(action, Action::Read(read) if matches!(read.target, ReadTarget::Vm(_))),
            );
        }
    }
    assert!((4..=7).contains(&reads), "{reads}");
    drop(state.handle(
        Input::Observed { uid: "nobody".into(), observation: Observation::Missing },
        at(400),
    ));
}

mod slow {
    use super::*;

    /// The record keeps 50 failures of a pool; kills during the storm lower no count either.
    #[test]
    fn thousands_of_failures_are_counted_once() {
        for crashes in [&[][..], &[500, 900], &[1_501, 1_502, 1_503, 1_504, 3_000]] {
            let (azure, changes) = failing(2_000, false);
            let mut world = World::new(azure);
            world.azure.vms.values_mut().for_each(|vm| vm.deleted_at = 9_999);
            let (mut crashes, mut killed) = (crashes.iter(), 0);
            run(&mut world, &changes, 4_000, |world, out| {
                if world.has_crashed() || killed == 0 {
                    killed += 1;
                    world.crash_at(crashes.next().copied());
                }
                out
            });
            assert_eq!(world.record.entries().count(), 50);
            assert_eq!(world.record.dropped, 1_950);
            let totals = world.counts.totals(Filter::default());
            let failed: u64 = totals.iter().flat_map(|total| total.failed.values()).sum();
            assert_eq!((failed, totals.len()), (2_000, 1), "{killed}");
            println!("{} writes of the counts for 2,000 failures", world.writes.counts);
            assert!(world.writes.counts <= 2_000 / 25 + 70, "{}", world.writes.counts);
        }
    }
}
