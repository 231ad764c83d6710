//! Drains, PDBs and evicted workloads.

use jiff::SignedDuration;
use mooring_repair::observation::{ClusterView, Pdb, Replicas};
use mooring_repair::plan::Step;
use mooring_repair::workflow::{Decision, Entry};
use mooring_workflow::reading::Named;
use mooring_workflow::{Finish, Reading, Reason};
use serde_json::json;

use crate::fake::outcomes::{
    assert_finished, assert_stopped, changed, completes, keys, once, stopped,
};
use crate::fake::scenarios::{budget_that_never_clears, overriding, settings};
use crate::fake::{Cloud, Workload, action_of, node, pod, recover, until};

#[test]
fn pods_not_running_elsewhere_stop_the_deletion() {
    // A pod that stays pending, and one that a webhook or quota does not allow.
    for pending in [true, false] {
        let mut cloud = Cloud::wedged();
        cloud.workloads.push(Workload { app: "lost", replicas: 1, min_available: 0 });
        cloud.pods.push(pod("lost-a", "lost", "ReplicaSet", "aks-system-0-0"));
        cloud.idle = Some("lost");
        if pending {
            let mut waits = pod("lost-b", "lost", "ReplicaSet", "");
            (waits.node, waits.serves_at) = (Some("nowhere".into()), None);
            cloud.pods.push(waits);
        }
        let end = once(cloud, &settings());
        assert_stopped(&end, Reason::StepTimeout, &["ReplicaSet/lost (0 of 1 pods Ready)"]);
        assert!(end.cloud.borrow().deletes.is_empty());
        completes(&end.cloud.borrow(), &overriding("workloads"));
    }
}

#[test]
fn workload_scaled_down_or_deleted_is_not_waited_for() {
    for replicas in [Some(1), Some(0), None] {
        let cloud = changed(Step::DrainPool, |cloud| {
            cloud.workloads.retain(|workload| workload.app != "coredns");
            let app = |replicas| Workload { app: "coredns", replicas, min_available: 0 };
            cloud.workloads.extend(replicas.map(app));
            let mut kept = replicas.unwrap_or(0);
            cloud.pods.retain(|pod| {
                let is_kept = pod.app != "coredns" || kept > 0;
                kept = kept.saturating_sub(usize::from(pod.app == "coredns"));
                is_kept
            });
        });
        let took = completes(&cloud, &settings()).now.duration_since(cloud.now);
        assert!(took < SignedDuration::from_mins(5), "{replicas:?}: {took}");
    }
}

#[test]
fn unknown_replicas_default_to_the_former_count() {
    let cloud = until(Step::DrainPool, &settings(), Cloud::wedged);
    let mut cloud = cloud.borrow().clone();
    cloud.workloads.retain(|workload| workload.app != "metrics");
    cloud.pods.retain(|pod| pod.app != "metrics");
    let state = cloud.state.clone().unwrap();
    let name = "kube-system/ReplicaSet/metrics".to_owned();
    let next = |reading: Option<Reading<Replicas>>| {
        let mut seen = cloud.read_all();
        if let Some(reading) = reading {
            seen.replicas = Named::of(&name, reading);
        }
        action_of(&state, seen, &cloud)
    };
    let replicas = |uid: &str, wanted| Reading::Known(Replicas { uid: uid.to_owned(), wanted });
    for reading in [
        Reading::Failed("HTTP 503".into()),
        Reading::Denied("Forbidden".into()),
        replicas("metrics", 1),
        replicas("metrics", 9),
    ] {
        let action = next(Some(reading));
        assert!(
            matches!(&action, Decision::Wait { why, .. } if why.contains("metrics")),
            "{action:?}"
        );
    }
    // Deleted, replaced, or scaled down.
    for reading in [None, Some(replicas("another", 1)), Some(replicas("metrics", 0))] {
        let action = next(reading);
        assert!(matches!(&action, Decision::Done(_)), "{action:?}");
    }
}

/// A short kubelet outage deletes no pods.
#[test]
fn pdb_is_bypassed_only_on_a_dead_node_and_recorded() {
    for (back, minutes) in [(true, 0), (true, 4), (false, 0), (false, 5)] {
        let cloud = until(Step::CordonPool, &settings(), budget_that_never_clears);
        let mut cloud = cloud.borrow().clone();
        let now = cloud.now;
        cloud.set_ready("system", false, now - SignedDuration::from_mins(minutes));
        let mut state = cloud.state.clone().unwrap();
        if back {
            // Its pods are not changed while it may recover.
            let action = action_of(&state, ClusterView::default(), &cloud);
            let Decision::Note(note) = action else { panic!("{action:?}") };
            state.change(now, &Entry::Note(note)).unwrap();
            cloud.pods.retain(|pod| pod.app == "rigid");
            let action = action_of(&state, ClusterView::default(), &cloud);
            let waits =
                matches!(&action, Decision::Wait { why, .. } if why.contains("to become Ready"));
            assert!(waits, "{action:?}");
            cloud.set_ready("system", true, now);
        }
        let end = recover(&cloud, &settings(), None);
        let cloud = end.cloud.borrow();
        if back {
            assert_eq!(stopped(&end).0, Reason::Blocked, "{minutes}");
            assert!(cloud.deletes.is_empty(), "{minutes}");
        } else {
            // The eviction of its replacement is blocked on a live node.
            assert!(stopped(&end).1.contains("blocks eviction of pod rigid-"), "{:?}", end.ended);
            assert_eq!(cloud.deletes.len(), 1);
            assert!(cloud.now >= now + SignedDuration::from_mins(5 - minutes));
            let state = cloud.state.as_ref().unwrap();
            let drained = state.done.iter().find(|done| done.step == Step::DrainPool).unwrap();
            let evidence = &drained.evidence;
            let expected = "pod kube-system/rigid-a is deleted with NotReady node aks-system-0-0; PDB rigid-budget bypassed";
            assert!(evidence.iter().any(|line| line == expected), "{evidence:?}");
        }
    }
}

/// A node that joined the pool after the drain, with a Ready pod.
fn with_latecomer(cloud: &mut Cloud, app: &str) {
    cloud.nodes.push(node("system", "aks-system-0", 2));
    cloud.pods.push(pod(&format!("{app}-late"), app, "ReplicaSet", "aks-system-0-2"));
}

#[test]
fn node_that_recovers_is_drained_before_the_deletion() {
    let cloud = changed(Step::VerifyWorkloads, |cloud| with_latecomer(cloud, "coredns"));
    let keys = keys(&completes(&cloud, &settings()));
    let at = |wanted: &str| keys.iter().position(|key| key.starts_with(wanted)).unwrap();
    assert!(at("cordon aks-system-0-2") < at("evict kube-system/coredns-late"), "{keys:?}");
    assert!(at("evict kube-system/coredns-late") < at("delete pool system"), "{keys:?}");
}

#[test]
fn pool_is_not_deleted_while_a_pdb_blocks_a_pod() {
    let cloud = changed(Step::VerifyWorkloads, |cloud| {
        cloud.workloads.push(Workload { app: "rigid", replicas: 1, min_available: 1 });
        with_latecomer(cloud, "rigid");
    });
    let end = recover(&cloud, &settings(), None);
    assert_stopped(&end, Reason::Blocked, &[]);
    assert!(end.cloud.borrow().deletes.is_empty());
    // `resume` may override it, with a reason in the journal.
    let end = completes(&end.cloud.borrow(), &overriding("pdb"));
    assert_eq!(end.state.unwrap().session.settings().overrides["pdb"], "ticket 7");
}

#[test]
fn temporary_pool_is_kept_until_its_pods_run_elsewhere() {
    let cloud = changed(Step::DrainTemporary, |cloud| {
        let mut evicted = pod("metrics-z", "metrics", "ReplicaSet", "");
        (evicted.node, evicted.serves_at) = (Some("nowhere".into()), None);
        cloud.pods.retain(|pod| pod.app != "metrics");
        cloud.pods.push(evicted);
    });
    let end = recover(&cloud, &settings(), None);
    assert_stopped(&end, Reason::StepTimeout, &["metrics"]);
    assert!(end.cloud.borrow().pools.contains_key("systmp"));
    completes(&end.cloud.borrow(), &overriding("workloads"));
}

#[test]
fn pending_pod_is_evicted_regardless_of_pdbs() {
    let mut cloud = Cloud::wedged();
    cloud.workloads.push(Workload { app: "half", replicas: 2, min_available: 1 });
    cloud.pods.push(pod("half-a", "half", "ReplicaSet", "aks-system-0-0"));
    let mut pending = pod("half-b", "half", "ReplicaSet", "aks-system-0-0");
    pending.serves_at = None;
    cloud.pods.push(pending);
    let end = once(cloud, &settings());
    assert_finished(&end, Finish::Complete);
}

#[test]
fn pod_with_two_pdbs_never_allows_a_disruption() {
    let mut cloud = Cloud::wedged();
    cloud.workloads.push(Workload { app: "metrics", replicas: 1, min_available: 0 });
    let end = once(cloud, &settings());
    let parts = ["metrics-a: it never allows a disruption", "the pod also has PDB metrics-budget"];
    assert_stopped(&end, Reason::Blocked, &parts);
}

#[test]
fn pdbs_allow_evictions_like_the_api() {
    let budget = |allowed, desired, healthy, policy: &str| {
        Pdb::read(&json!({
            "metadata": {"namespace": "n", "name": "b"},
            "spec": {"selector": {}, "unhealthyPodEvictionPolicy": policy},
            "status": {"disruptionsAllowed": allowed, "expectedPods": 3, "desiredHealthy": desired, "currentHealthy": healthy},
        }))
        .unwrap()
    };
    let mut ready = pod("a", "a", "ReplicaSet", "x").seen("2026-01-01T00:00:00Z".parse().unwrap());
    let mut unready = ready.clone();
    (ready.ready, unready.ready) = (true, false);
    for (budget, serving, other) in [
        (budget(1, 2, 3, ""), true, true),
        (budget(0, 2, 2, ""), false, true),
        (budget(0, 2, 1, ""), false, false),
        (budget(0, 0, 0, ""), false, false),
        (budget(0, 2, 1, "AlwaysAllow"), false, true),
    ] {
        assert_eq!(
            (budget.allows_eviction(&ready), budget.allows_eviction(&unready)),
            (serving, other),
            "{budget:?}"
        );
    }
    let uncounted = Pdb::read(&json!({"metadata": {"namespace": "n", "name": "b"}})).unwrap();
    assert!(uncounted.can_clear(), "one that nobody has counted yet is not hopeless");
}

#[test]
fn pod_that_ignores_cordons_is_evicted_once() {
    let cloud = until(Step::DrainPool, &settings(), Cloud::wedged);
    let cloud = cloud.borrow();
    let state = cloud.state.clone().unwrap();
    let deed = |created: SignedDuration| {
        let mut seen = cloud.read_kubernetes();
        let Some(Reading::Known(mut pods)) = seen.pods.take() else { panic!() };
        let mut stubborn =
            pod("stubborn", "stubborn", "ReplicaSet", "aks-system-0-0").seen(cloud.now);
        stubborn.ignores_cordon = true;
        stubborn.created = Some(state.step_since() + created);
        pods.push(stubborn);
        seen.pods = Reading::Known(pods).into();
        action_of(&state, seen, &cloud)
    };
    let Decision::Apply(effect) = deed(SignedDuration::from_secs(-60)) else { panic!() };
    assert!(effect.key().starts_with("evict kube-system/stubborn"), "{}", effect.key());
    let next = deed(SignedDuration::from_secs(1));
    assert!(!matches!(next, Decision::Apply(_)), "{next:?}");
}

/// An override applies to PDBs that block permanently; others get half of the drain timeout.
#[test]
fn override_waits_for_a_pdb_that_may_allow_eviction() {
    let cloud = until(Step::CordonPool, &overriding("pdb"), Cloud::wedged);
    let mut cloud = cloud.borrow().clone();
    // Two of three must be Ready, and the third is not yet.
    cloud.workloads.push(Workload { app: "slow", replicas: 3, min_available: 2 });
    cloud.pods.clear();
    for (name, node) in [("slow-a", "aks-system-0-0"), ("slow-b", "other"), ("slow-c", "other")] {
        cloud.pods.push(pod(name, "slow", "ReplicaSet", node));
    }
    cloud.pods[2].serves_at = None;
    let mut state = cloud.state.clone().unwrap();
    let action = action_of(&state, ClusterView::default(), &cloud);
    let Decision::Note(note) = action else { panic!("{action:?}") };
    state.change(cloud.now, &Entry::Note(note)).unwrap();
    let half = state.session.settings().limits.drain / 2;
    let (begin, second) = (cloud.now, SignedDuration::from_secs(1));
    let mut at = |after: SignedDuration| {
        cloud.now = begin + after;
        action_of(&state, ClusterView::default(), &cloud)
    };
    for after in [SignedDuration::ZERO, second, half - SignedDuration::from_mins(1)] {
        let action = at(after);
        let waits = matches!(&action, Decision::Wait { why, .. } if why.contains("slow-budget"));
        assert!(waits, "{after}: {action:?}");
    }
    let action = at(half);
    let Decision::Apply(effect) = &action else { panic!("{action:?}") };
    assert_eq!(effect.key(), "delete pod kube-system/slow-a uid-slow-a");
}

#[test]
fn pods_of_jobs_are_not_waited_for() {
    let mut cloud = Cloud::wedged();
    cloud.pods.push(pod("backup-a", "backup", "Job", "aks-system-0-0"));
    let end = once(cloud, &settings());
    assert_finished(&end, Finish::Complete);
    let state = end.cloud.borrow().state.clone().unwrap();
    let counted = state.facts.workloads.values().flat_map(|of| of.values()).map(|of| &of.name);
    let counted: Vec<&String> = counted.collect();
    assert!(
        !counted.is_empty() && counted.iter().all(|name| !name.contains("/Job/")),
        "{counted:?}"
    );
    let keys = keys(&end.cloud.borrow());
    assert!(keys.iter().any(|key| key.starts_with("evict kube-system/backup-a")), "{keys:?}");
}
