//! Forged events: none changes the state of a node, and none delays a read that is due.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::world::azure::{Azure, SUCCEEDED, Vm, failed};
use crate::world::{Change, World, own_condition, run};

const FOREVER: i64 = i64::MAX;

#[derive(Clone, Default)]
struct Timeline {
    vms: BTreeMap<String, Vm>,
    changes: Vec<(i64, Change)>,
}

impl Timeline {
    /// Launches a NodeClaim; its bootstrap ends with a text, and its VM is deleted, at given times.
    fn launch(&mut self, name: &str, at: i64, ends: (i64, &str), gone: i64) {
        let vm = Vm {
            ready_at: at + 40,
            ends: Some((ends.0, ends.1.to_owned())),
            deleted_at: gone,
            status: 200,
        };
        self.vms.insert(format!("aks-{name}"), vm);
        let image = "202601.27.0".to_owned();
        self.add(at, Change::Launch { name: name.to_owned(), image, machine: false });
    }

    fn add(&mut self, at: i64, change: Change) {
        self.changes.push((at, change));
    }

    /// Adds an event with Karpenter's text, which may name any VM.
    fn event(&mut self, at: i64, claim: &str, vm: &str) {
        let text = format!(
            "Failed to register: creating VM CSE for VM \"{vm}\": ERROR CODE: VMExtensionProvisioningError exit status=50"
        );
        self.add(at, Change::GiveUp(claim.to_owned(), text));
    }

    fn run(&self, until: i64) -> World {
        let mut changes = self.changes.clone();
        changes.sort_by_key(|(at, _)| *at);
        let mut world = World::new(Azure { vms: self.vms.clone(), ..Azure::default() });
        run(&mut world, &changes, until, |_, out| out);
        world
    }
}

fn condition(world: &World, name: &str) -> (String, String) {
    let object = world.claims.get(name).or_else(|| world.last_versions.get(name)).unwrap();
    let own = own_condition(object).cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&own["reason"]), text(&own["message"]))
}

/// Joined nodes, starting nodes, and one that fails at 190 s and is announced at 195 s.
fn fleet() -> Timeline {
    let mut timeline = Timeline::default();
    for number in 0..20 {
        let name = format!("default-up{number}");
        timeline.launch(&name, 0, (70, SUCCEEDED), FOREVER);
        timeline.add(100, Change::Register(name));
        timeline.launch(&format!("default-new{number}"), 90, (FOREVER, SUCCEEDED), FOREVER);
    }
    timeline.launch("default-real", 100, (190, &failed(211, "oras: command not found")), 205);
    timeline.event(195, "default-real", "aks-default-real");
    timeline.add(208, Change::Delete("default-real".to_owned()));
    timeline.add(212, Change::Remove("default-real".to_owned()));
    timeline
}

#[test]
fn ten_thousand_forged_events_hide_no_failure() {
    let clean = fleet().run(260);
    assert_eq!(clean.record.entries().count(), 1);
    let mut flooded = fleet();
    for number in 0..10_000_i64 {
        let at = 150 + number * 60 / 10_000;
        let claim = match number % 3 {
            0 => format!("unknown-{number}"),
            1 => format!("default-up{}", number % 20),
            _ => format!("default-new{}", number % 20),
        };
        flooded.event(at, &claim, "aks-default-real");
    }
    let world = flooded.run(260);
    assert_eq!(world.picture(), clean.picture());
    let entries = |world: &World| -> Vec<(String, Option<i32>, bool)> {
        let entries = world.record.entries();
        entries.map(|entry| (entry.uid.clone(), entry.code, entry.unconfirmed)).collect()
    };
    assert_eq!(entries(&world), entries(&clean));
    assert_eq!(entries(&world)[0].1, Some(211));
    let (reported, expected) = (world.patched_at["default-real"], clean.patched_at["default-real"]);
    assert!(reported <= 195 + 30, "reported at {reported}, without the flood at {expected}");
    let more = world.writes.reads - clean.writes.reads.min(world.writes.reads);
    println!("{} reads, {more} more than without 10,000 events in a minute", world.writes.reads);
    assert!(more <= 60, "{more}");
}

#[test]
fn event_about_a_running_bootstrap_changes_nothing() {
    let mut timeline = Timeline::default();
    timeline.launch("default-a", 0, (300, SUCCEEDED), FOREVER);
    timeline.launch("default-b", 0, (FOREVER, SUCCEEDED), 160);
    let clean = timeline.clone();
    for claim in ["default-a", "default-b"] {
        timeline.event(100, claim, "aks-default-a");
    }
    for timeline in [&mut timeline, &mut clean.clone()] {
        timeline.add(330, Change::Register("default-a".to_owned()));
        // Deleted long after reads showed that its bootstrap runs.
        timeline.add(161, Change::Delete("default-b".to_owned()));
        timeline.add(170, Change::Remove("default-b".to_owned()));
    }
    let world = timeline.run(600);
    assert_eq!(condition(&world, "default-a").0, "CSESucceeded");
    assert_eq!(condition(&world, "default-b").0, "CSERunning");
    assert_eq!((world.record.entries().count(), world.events.len()), (0, 0));
    assert!(world.writes.verdicts.iter().all(|(_, message)| !message.contains("failed")));
}

#[test]
fn scheduled_reads_never_wait_for_forged_events() {
    let mut timeline = Timeline::default();
    for number in 0..100 {
        let name = format!("default-{number}");
        timeline.launch(&name, 0, (65 + number % 7, &failed(50, "")), FOREVER);
    }
    for number in 0..20 {
        timeline.launch(&format!("other-{number}"), 0, (FOREVER, SUCCEEDED), FOREVER);
    }
    let clean = timeline.run(300);
    for number in 0..600 {
        timeline.event(58 + number / 100, &format!("other-{}", number % 20), "aks-default-1");
        timeline.event(58 + number / 100, &format!("unknown-{number}"), "aks-default-1");
    }
    let world = timeline.run(300);
    for number in 0..100 {
        let name = format!("default-{number}");
        assert!(world.patched_at[&name] <= clean.patched_at[&name], "{name}");
    }
    assert_eq!(world.picture(), clean.picture());
    assert_eq!(world.writes.events, clean.writes.events);
}

#[test]
fn failure_reported_only_by_an_event_is_unconfirmed() {
    let mut timeline = Timeline::default();
    timeline.launch("default-a", 0, (90, &failed(211, "")), 94);
    timeline.event(95, "default-a", "aks-default-a");
    let live = timeline.run(400);
    // The API server has not confirmed it: nothing is reported.
    assert_eq!((live.record.entries().count(), live.events.len()), (0, 0));
    timeline.add(97, Change::Delete("default-a".to_owned()));
    let world = timeline.run(110);
    let (reason, message) = condition(&world, "default-a");
    assert_eq!(reason, "CSEFailureUnconfirmed");
    assert!(message.starts_with("Unconfirmed: ") && message.contains("Only an event"), "{message}");
    let entry = world.record.entries().next().unwrap();
    assert!(entry.unconfirmed && entry.note.starts_with("Unconfirmed: "), "{entry:?}");
    let about: Vec<&Value> =
        world.events.values().map(|event| &event["regarding"]["kind"]).collect();
    assert_eq!(about, ["NodeClaim"]);
    // A node that registers did not fail.
    timeline.add(120, Change::Register("default-a".to_owned()));
    let world = timeline.run(400);
    let (reason, message) = condition(&world, "default-a");
    assert_eq!(reason, "CSEStatusUnavailable", "{message}");
    assert!(message.starts_with("The node registered."), "{message}");
}

#[test]
fn nodeclaim_with_a_foreign_vm_is_reported_and_not_read() {
    let mut timeline = Timeline::default();
    timeline.launch("default-a", 0, (90, &failed(211, "")), FOREVER);
    let mut world = World::new(Azure { vms: timeline.vms.clone(), ..Azure::default() });
    let mut object = crate::world::scenario::claim("default-a", "202601.27.0", true, 0);
    object["status"]["providerID"] = serde_json::json!(
        "azure:///subscriptions/0/resourceGroups/prod/providers/Microsoft.Compute/virtualMachines/aks-default-a"
    );
    object["metadata"]["annotations"]["karpenter.azure.com/aks-machine-resource-id"] = serde_json::json!(
        "/subscriptions/0/resourceGroups/other/providers/Microsoft.ContainerService/managedClusters/aks/agentPools/p/machines/m"
    );
    world.put(object);
    run(&mut world, &[], 600, |_, out| out);
    assert_eq!((world.writes.reads, world.writes.sweeps), (0, 0));
    let (reason, message) = condition(&world, "default-a");
    assert_eq!(reason, "CSEStatusUnavailable");
    let expected = "providerID names a VM outside the node resource group MC_g of subscription 0";
    assert!(message.starts_with(expected), "{message}");
}
