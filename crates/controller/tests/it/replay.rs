//! The controller in a simulated world of plain values: killed, disturbed and raced, it always reaches the
//! same end state.

use mooring_controller::Input;

use crate::world::scenario::everything;
use crate::world::{CONDITION, World, own_condition, run};

const END: i64 = 1_200;

fn clean() -> World {
    let (azure, changes) = everything();
    let mut world = World::new(azure);
    run(&mut world, &changes, END, |_, out| out);
    world
}

fn reason(world: &World, name: &str) -> String {
    let object = world.claims.get(name).or_else(|| world.last_versions.get(name)).unwrap();
    let own = own_condition(object).map(|own| {
        format!("{}/{}", own["status"].as_str().unwrap(), own["reason"].as_str().unwrap())
    });
    own.unwrap_or_default()
}

#[test]
fn outcomes_of_every_mode_are_reported() {
    let world = clean();
    for (name, expected) in [
        ("default-healthy", "True/CSESucceeded"),
        ("default-announced", "False/CSEFailed"),
        ("default-lost", "False/CSEFailed"),
        ("default-scriptless", "Unknown/NoCSEExtension"),
        ("default-unregistered", "False/NodeNotRegistered"),
        ("default-raced", "False/CSEFailed"),
        ("default-machine", "False/CSEFailed"),
        ("default-early", "Unknown/CSEFailureUnconfirmed"),
        ("default-hung", "False/CSETimedOut"),
        ("default-given-up", "False/NodeNotRegistered"),
        ("default-no-extension", "False/NodeNotRegistered"),
    ] {
        assert_eq!(reason(&world, name), expected, "{name}\n{:#}", world.picture());
    }
    let notes: Vec<&str> =
        world.events.values().map(|event| event["note"].as_str().unwrap()).collect();
    for words in [
        "code 211 on node aks-default-announced: ERR_ORAS_PULL_NETWORK_TIMEOUT. oras is missing",
        "Unconfirmed: CSE failed without an exit code on node aks-default-early: VMExtensionProvisioningError. Only an event",
        "CSE did not finish on node aks-default-hung",
        "Node aks-default-unregistered did not register: CSE succeeded; the VM is running and its agent is ready",
        "all done",
        "Node aks-default-given-up did not register: the VM is running and its agent is ready, but no Node and no CertificateSigningRequest",
        "Node aks-default-no-extension did not register: Karpenter created the VM but not the CSE extension",
    ] {
        assert!(notes.iter().any(|note| note.contains(words)), "{words}\n{notes:#?}");
    }
    assert!(!notes.iter().any(|note| note.contains("hunter2")));
}

/// Asserts what holds in every run.
fn assert_sound(world: &World, what: &str) {
    for (name, object) in &world.claims {
        let conditions = object["status"]["conditions"].as_array().unwrap();
        for kind in ["Initialized", "Registered", "Launched", "Ready"] {
            assert!(
                conditions.iter().any(|condition| condition["type"] == kind),
                "{what}: {name} lost {kind}"
            );
        }
    }
    assert!(world.writes.reasserts <= 3, "{what}: only three conditions were dropped");
    assert_eq!(world.writes.events as usize, world.events.len(), "{what}");
}

/// Appended to every sentence that a controller with other words has written.
const OTHER_WORDS: &str = " (in other words)";

fn reword(world: &mut World) {
    for object in world.claims.values_mut() {
        for condition in object["status"]["conditions"].as_array_mut().unwrap() {
            if condition["type"] == CONDITION {
                let message = condition["message"].as_str().unwrap();
                condition["message"] = format!("{message}{OTHER_WORDS}").into();
            }
        }
    }
    for event in world.events.values_mut() {
        event["note"] = format!("{}{OTHER_WORDS}", event["note"].as_str().unwrap()).into();
    }
    for entry in world.record.pools.values_mut().flatten() {
        for text in [&mut entry.message, &mut entry.note, &mut entry.summary] {
            text.push_str(OTHER_WORDS);
        }
    }
}

/// A new leader reads what the last one wrote, by its members and never by its sentences.
#[test]
fn words_of_the_last_leader_change_no_decision() {
    for moment in [150, 300, 500, 950] {
        let end = |is_reworded: bool| {
            let (azure, changes) = everything();
            let after = changes.partition_point(|(when, _)| *when <= moment);
            let mut world = World::new(azure);
            run(&mut world, &changes[..after], moment, |_, out| out);
            if is_reworded {
                reword(&mut world);
                assert!(world.picture().to_string().contains(OTHER_WORDS), "{moment}");
            }
            run(&mut world, &changes[after..], END, |_, out| out);
            world.picture().to_string().replace(OTHER_WORDS, "")
        };
        assert_eq!(end(true), end(false), "{moment}");
    }
}

#[test]
fn converged_controller_writes_nothing() {
    let (azure, changes) = everything();
    let mut world = World::new(azure);
    run(&mut world, &changes, END, |_, out| out);
    let before = world.writes.clone();
    world.now = END + 1;
    run(&mut world, &[], END + 3_600, |_, out| out);
    assert_eq!((world.writes.total(), world.writes.reads), (before.total(), before.reads));
    // Three lost conditions, each written again once.
    assert_eq!(before.reasserts, 3);
}

#[test]
fn duplicated_events_change_nothing() {
    let (azure, changes) = everything();
    let mut world = World::new(azure);
    run(&mut world, &changes, END, |_, out| {
        out.iter().flat_map(|input| [input.clone(), input.clone()]).collect()
    });
    assert_sound(&world, "duplicated");
    assert_eq!(world.picture(), clean().picture());
    assert_eq!(world.writes.total(), clean().writes.total());
}

#[test]
fn stale_object_after_a_newer_one_changes_nothing() {
    let (azure, changes) = everything();
    let mut world = World::new(azure);
    let mut older: Vec<Input> = Vec::new();
    run(&mut world, &changes, END, |_, out| {
        let claims = out.iter().filter(|input| matches!(input, Input::Claim(_)));
        let stale = std::mem::replace(&mut older, claims.cloned().collect());
        out.into_iter().chain(stale).collect()
    });
    assert_sound(&world, "reordered");
    assert_eq!(world.picture()["conditions"], clean().picture()["conditions"]);
}

#[test]
fn concurrent_write_is_never_overwritten() {
    let (azure, changes) = everything();
    let mut world = World::new(azure);
    let mut late: Vec<Input> = Vec::new();
    let mut turn = 0;
    run(&mut world, &changes, END, |world, out| {
        turn += 1;
        // Karpenter writes another change whenever the controller is about to read, and every event is late.
        if turn % 5 == 0 && world.now < 900 {
            let names: Vec<String> = world.claims.keys().cloned().collect();
            for name in names {
                let mut object = world.claims[&name].clone();
                object["status"]["lastPodEventTime"] = world.clock().to_string().into();
                world.put(object);
            }
        }
        std::mem::replace(&mut late, out)
    });
    assert_sound(&world, "raced");
    assert!(world.writes.rejected_patches > 0);
    for name in [
        "default-healthy",
        "default-lost",
        "default-raced",
        "default-scriptless",
        "default-unregistered",
    ] {
        assert_eq!(reason(&world, name), reason(&clean(), name));
    }
}

#[test]
fn relist_recovers_dropped_watch_events() {
    let (azure, changes) = everything();
    let mut world = World::new(azure);
    let mut turn = 0;
    run(&mut world, &changes, END, |world, out| {
        turn += 1;
        // Every third delivery is lost and followed by a list, as after 410 Gone.
        let given_up = out
            .iter()
            .filter(|input| matches!(input, Input::GivenUp(_)))
            .cloned()
            .collect::<Vec<_>>();
        if turn % 3 == 0 && !out.is_empty() {
            world.list().into_iter().chain(given_up).collect()
        } else {
            out
        }
    });
    assert_sound(&world, "relisted");
    assert_eq!(world.picture(), clean().picture());
}

#[test]
fn second_replica_completes_the_writes_of_the_first() {
    let clean = clean();
    for takeover in (0..400).step_by(7) {
        let (azure, changes) = everything();
        let mut world = World::new(azure);
        let (before, after): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|(when, _)| *when < takeover);
        run(&mut world, &before, takeover, |_, out| out);
        // 15 s without a leader: the Lease must expire first.
        world.now = takeover + 15;
        let mut standby = world.start(false);
        assert_eq!(standby.wake_at(world.clock()), None);
        drop(standby.handle(Input::Tick, world.clock()));
        run(&mut world, &after, END, |_, out| out);
        assert_sound(&world, &format!("takeover at {takeover}"));
        for name in [
            "default-healthy",
            "default-lost",
            "default-raced",
            "default-scriptless",
            "default-unregistered",
        ] {
            assert_eq!(reason(&world, name), reason(&clean, name), "takeover at {takeover}");
        }
        // Announced failures are reported: on NodeClaim and pool from the VM, on the NodeClaim alone from the event.
        let notes = world.events.values().map(|event| event["note"].as_str().unwrap());
        let reported: Vec<&str> =
            notes.filter(|note| note.contains("aks-default-announced")).collect();
        let unconfirmed = reported.iter().any(|note| note.starts_with("Unconfirmed: "));
        assert_eq!(reported.len(), if unconfirmed { 1 } else { 2 }, "takeover at {takeover}");
    }
}

#[test]
fn standby_never_reverts_writes_of_the_leader() {
    let (azure, changes) = everything();
    let mut world = World::new(azure);
    let mut standby = world.start(false);
    run(&mut world, &changes, END, |world, out| {
        for input in &out {
            assert!(standby.handle(input.clone(), world.clock()).is_empty());
        }
        out
    });
    let before = (world.picture(), world.writes.total());
    assert!(world.lead(&mut standby));
    assert_eq!((world.picture(), world.writes.total()), before);
}

mod slow {
    use super::*;

    #[test]
    fn crash_or_demotion_around_any_write_has_the_same_result() {
        let clean = clean();
        assert_sound(&clean, "clean");
        let writes = clean.writes.number();
        assert!(writes > 30 && clean.writes.counts > 2, "{writes}");
        for number in 0..writes {
            for (sent, demoted) in [(false, false), (true, false), (false, true), (true, true)] {
                let (azure, changes) = everything();
                let mut world = World::new(azure);
                world.crash = Some((number, sent));
                world.demoted = demoted;
                run(&mut world, &changes, END, |_, out| out);
                let end = if demoted { "demoted" } else { "killed" };
                let what =
                    format!("{end} {} write {number}", if sent { "after" } else { "before" });
                assert_sound(&world, &what);
                assert_eq!(world.picture(), clean.picture(), "{what}");
                assert_eq!(world.writes.total(), clean.writes.total(), "{what}");
            }
        }
    }
}
