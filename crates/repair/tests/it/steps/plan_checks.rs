//! Limits of the checks of a plan.

use std::sync::Arc;

use jiff::SignedDuration;
use mooring_repair::checks::Capacity;
use mooring_repair::observation::{ClusterView, Node};
use mooring_repair::plan::{self, Plan};
use mooring_repair::pool_body::CRITICAL_TAINT;
use mooring_repair::settings::Settings;
use mooring_workflow::approval::ApprovalToken;
use mooring_workflow::{Outcome, Reading};
use serde_json::{Value, json};

use crate::fake::Cloud;
use crate::fake::records::capacity;
use crate::fake::scenarios::settings;

fn built(
    cloud: &Cloud,
    settings: &Settings,
    capacity: &Capacity,
    change: impl FnOnce(&mut ClusterView),
) -> Plan {
    let mut view = cloud.read_kubernetes();
    change(&mut view);
    plan::build(&view, settings, capacity, &[], ApprovalToken::expiry(cloud.now)).unwrap()
}

fn result(plan: Plan, name: &str) -> (Outcome, String) {
    let found = plan.checks.into_iter().find(|check| check.name == name).unwrap();
    (found.outcome, found.detail())
}

#[test]
fn restricted_vm_size_fails_and_an_unread_one_is_unknown() {
    let check = |restrictions| {
        let capacity = Capacity { restrictions, ..capacity() };
        result(built(&Cloud::wedged(), &settings(), &capacity, |_| {}), "vm-size")
    };
    assert_eq!(check(Reading::Known(vec![])), (Outcome::Pass, "VM size is available".to_owned()));
    let restricted = vec!["not in zone 1".to_owned(), "not in zone 2".to_owned()];
    let why = "not in zone 1; not in zone 2".to_owned();
    assert_eq!(check(Reading::Known(restricted)), (Outcome::Fail, why));
    assert_eq!(check(Reading::Failed("was not read".to_owned())).0, Outcome::Unknown);
}

#[test]
fn deadline_may_equal_the_expected_time() {
    let cloud = Cloud::wedged();
    let expected = built(&cloud, &settings(), &capacity(), |_| {}).expected_seconds;
    assert!(expected > 0);
    for (spare, wanted) in [(-1, Outcome::Fail), (0, Outcome::Pass), (1, Outcome::Pass)] {
        let mut settings = settings();
        settings.limits.overall = SignedDuration::from_secs(i64::from(expected) + spare);
        let plan = built(&cloud, &settings, &capacity(), |_| {});
        assert_eq!(result(plan, "time").0, wanted, "{spare} s to spare");
    }
}

#[test]
fn temporary_pool_counts_for_the_limit_of_pools() {
    let cloud = Cloud::wedged();
    let pools = i64::try_from(cloud.pools.len()).unwrap();
    for (max_pools, wanted) in [
        (Some(pools + 1), Outcome::Pass),
        (Some(pools), Outcome::Fail),
        (Some(pools - 1), Outcome::Fail),
        (None, Outcome::Unknown),
    ] {
        let plan = built(&cloud, &settings(), &capacity(), |view| {
            let Some(Reading::Known(cluster)) = view.cluster.get_mut() else { panic!() };
            cluster.max_pools = max_pools;
        });
        assert_eq!(result(plan, "pool-limit").0, wanted, "{max_pools:?}");
    }
}

/// A PDB that requires all its pods, for pods of the pool, of another pool, and without a node.
#[test]
fn pods_of_other_pools_are_not_checked_for_pdbs() {
    let mut cloud = Cloud::wedged();
    let node_of = |cloud: &Cloud, pool: &str| {
        cloud.nodes.iter().find(|node| node.pool == pool).unwrap().name.clone()
    };
    let (here, elsewhere) = (node_of(&cloud, "system"), node_of(&cloud, "user"));
    let app = cloud.workloads[0].app;
    cloud.workloads.truncate(1);
    cloud.workloads[0].min_available = cloud.workloads[0].replicas;
    cloud.pods.retain(|pod| pod.app == app);
    assert!(!cloud.pods.is_empty());
    let check = |cloud: &Cloud| result(built(cloud, &settings(), &capacity(), |_| {}), "pdb");
    for (node, wanted) in
        [(Some(here), Outcome::Fail), (Some(elsewhere), Outcome::Pass), (None, Outcome::Pass)]
    {
        for pod in &mut cloud.pods {
            pod.node.clone_from(&node);
        }
        let (outcome, detail) = check(&cloud);
        assert_eq!(outcome, wanted, "{node:?}: {detail}");
        assert_eq!(detail.contains("never allows a disruption"), wanted == Outcome::Fail);
    }
}

#[test]
fn pdb_that_can_allow_a_disruption_later_passes() {
    let mut cloud = Cloud::wedged();
    let here = cloud.nodes.iter().find(|node| node.pool == "system").unwrap().name.clone();
    let app = cloud.workloads[0].app;
    cloud.workloads.truncate(1);
    cloud.workloads[0].replicas = 2;
    cloud.workloads[0].min_available = 1;
    cloud.pods.retain(|pod| pod.app == app);
    cloud.pods.truncate(1);
    cloud.pods[0].node = Some(here);
    let plan = built(&cloud, &settings(), &capacity(), |_| {});
    let expected = "no PDB permanently blocks eviction".to_owned();
    assert_eq!(result(plan, "pdb"), (Outcome::Pass, expected));
}

/// The temporary pool has a taint that the pool lacks: its pods must run there, or elsewhere.
#[test]
fn pods_of_a_system_pool_without_the_taint_need_a_toleration_or_another_node() {
    let cloud = Cloud::wedged();
    let check = |taints: Value, tolerates: bool, change: fn(&mut [Node])| {
        let plan = built(&cloud, &settings(), &capacity(), |view| {
            let Some(Reading::Known(pools)) = view.pools.get_mut() else { panic!() };
            let pool = pools.iter_mut().find(|pool| pool.name == "system").unwrap();
            Arc::make_mut(&mut pool.raw)["properties"]["nodeTaints"] = taints;
            let Some(Reading::Known(pods)) = view.pods.get_mut() else { panic!() };
            for pod in pods.iter_mut() {
                pod.tolerates_critical = tolerates;
            }
            let Some(Reading::Known(nodes)) = view.nodes.get_mut() else { panic!() };
            change(nodes);
        });
        plan.checks.into_iter().find(|check| check.name == "tolerations")
    };
    let taint_all = |nodes: &mut [Node]| nodes.iter_mut().for_each(|node| node.tainted = true);
    let cordon_all = |nodes: &mut [Node]| nodes.iter_mut().for_each(|n| n.unschedulable = true);
    for (tolerates, change, outcome, text) in [
        (true, taint_all as fn(&mut [Node]), Outcome::Pass, "every pod of the pool tolerates"),
        (false, |_: &mut [Node]| {}, Outcome::Pass, "3 pods of the pool without"),
        (false, taint_all, Outcome::Fail, "0 Ready, schedulable nodes without taints in other"),
        (false, cordon_all, Outcome::Fail, "0 Ready, schedulable nodes without taints in other"),
    ] {
        let found = check(json!([]), tolerates, change).unwrap();
        assert_eq!(found.outcome, outcome, "{found:?}");
        assert!(found.detail().contains(text), "{found:?}");
    }
    assert_eq!(check(json!([CRITICAL_TAINT]), false, taint_all), None);
}
