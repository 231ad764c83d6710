//! Locks, missing rights on linked resources and deny assignments are found before the first change.

use mooring_repair::begin::BeginError;
use mooring_repair::plan::Plan;
use mooring_repair::shell::CommandResult;
use mooring_repair::workflow::Finish;
use mooring_repair::workflow::RunOutcome;
use mooring_simulator::azure::{Azure, Denial, DenyAssignment, Lock, LockLevel};
use mooring_workflow::CheckResult;
use mooring_workflow::Outcome;
use mooring_workflow::approval::Approval;
use serde_json::json;

use crate::bench::Bench;

const JOIN: &str = "Microsoft.Network/virtualNetworks/subnets/join/action";

fn change(bench: &Bench, act: impl FnOnce(&mut Azure)) {
    bench.shell.with(|world, _| act(world.azure_mut()));
}

fn group(azure: &Azure, name: &str) -> String {
    format!("/subscriptions/{}/resourceGroups/{name}", azure.options().subscription)
}

fn lock(azure: &mut Azure, scope: String, level: LockLevel) {
    azure.add_lock(Lock { scope, name: "keep".to_owned(), level, notes: None });
}

fn found<'a>(plan: &'a Plan, name: &str) -> &'a CheckResult {
    plan.prechecks.iter().find(|check| check.name == name).unwrap()
}

async fn planned(bench: &Bench) -> Plan {
    bench.operator().examine(None, None).await.plan.unwrap()
}

/// The plan names what forbids the run, and `apply` ends before it changes anything: no request that writes reaches
/// Azure or Kubernetes, the journal included.
async fn refuses(bench: &Bench, name: &str, parts: &[&str]) {
    let mut operator = bench.operator();
    let examined = operator.examine(None, None).await;
    let plan = examined.plan.unwrap();
    let check = found(&plan, name);
    assert_eq!(check.outcome, Outcome::Fail, "{check:?}");
    let table = mooring_repair::plan::table(&plan);
    for part in parts {
        assert!(check.detail().contains(part) && table.contains(part), "{part}: {table}");
    }
    let guards = &examined.report.detection.guards;
    let approval = Approval::Typed(plan.document.hash());
    let ending = operator.apply(&plan, guards, approval, Box::new(|_, _, _| {})).await;
    let CommandResult::Refused(BeginError::Hopeless(why)) = ending else { panic!("{ending:?}") };
    assert!(why.contains(&format!("{name}: ")), "{why}");
    assert_eq!(*bench.sent.lock().unwrap(), Vec::<String>::new());
    let journals = bench
        .shell
        .with(|world, _| world.kubernetes().objects("configmaps", Some("mooring-system")).count());
    assert_eq!(journals, 0, "not even a lock of the journal");
}

#[tokio::test(start_paused = true)]
async fn pool_in_an_own_network_is_rebuilt_with_the_shipped_roles() {
    let (bench, _running) = Bench::own_network();
    let plan = planned(&bench).await;
    for name in ["permissions", "locks", "deny-assignments"] {
        let check = found(&plan, name);
        assert_eq!(check.outcome, Outcome::Pass, "{check:?}");
    }
    let ending = bench.go().await.unwrap();
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Repaired))),
        "{ending:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn missing_linked_right_is_in_the_plan_and_nothing_is_written() {
    let (bench, _running) = Bench::own_network();
    let mut subnet = String::new();
    change(&bench, |azure| {
        subnet = azure.options().subnet();
        azure.unassign(&group(azure, "rg-network"));
    });
    refuses(&bench, "permissions", &[JOIN, &subnet, "mooring-repair-linked.json"]).await;
}

#[tokio::test(start_paused = true)]
async fn every_linked_resource_of_pool_and_cluster_is_checked() {
    for (member, id, action) in [
        ("podSubnetID", "Microsoft.Network/virtualNetworks/v/subnets/p", JOIN),
        (
            "nodePublicIPPrefixID",
            "Microsoft.Network/publicIPPrefixes/p",
            "Microsoft.Network/publicIPPrefixes/join/action",
        ),
        (
            "proximityPlacementGroupID",
            "Microsoft.Compute/proximityPlacementGroups/p",
            "Microsoft.Compute/proximityPlacementGroups/write",
        ),
    ] {
        let (bench, _running) = Bench::new("wedged-system-pool");
        change(&bench, |azure| {
            let id = format!("{}/providers/{id}", group(azure, "rg-other"));
            let pool = format!("{}/agentPools/system", azure.options().cluster_id());
            let mut pool = azure.resource(&pool).unwrap().clone();
            pool["properties"][member] = id.into();
            azure.put_resource(pool);
        });
        refuses(&bench, "permissions", &[action, "rg-other"]).await;
    }
    for (member, value, action) in [
        (
            "diskEncryptionSetID",
            json!(
                "/subscriptions/x/resourceGroups/rg-other/providers/Microsoft.Compute/diskEncryptionSets/d"
            ),
            "Microsoft.Compute/diskEncryptionSets/read",
        ),
        (
            "identityProfile",
            json!({"kubeletidentity": {"resourceId": "/subscriptions/x/resourceGroups/rg-other/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"}}),
            "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action",
        ),
    ] {
        let (bench, _running) = Bench::new("wedged-system-pool");
        change(&bench, |azure| {
            let mut text = value.to_string();
            text = text.replace(
                "/subscriptions/x",
                &format!("/subscriptions/{}", azure.options().subscription),
            );
            let mut cluster = azure.resource(&azure.options().cluster_id()).unwrap().clone();
            cluster["properties"][member] = serde_json::from_str(&text).unwrap();
            azure.put_resource(cluster);
        });
        refuses(&bench, "permissions", &[action, "rg-other"]).await;
    }
}

/// The right to abort is needed only while something runs.
#[tokio::test(start_paused = true)]
async fn nothing_is_aborted_without_the_right_to_do_what_follows() {
    for action in [
        "Microsoft.ContainerService/managedClusters/abort/action",
        "Microsoft.ContainerService/managedClusters/agentPools/delete",
        "Microsoft.ContainerService/managedClusters/agentPools/write",
        "Microsoft.Resources/tags/write",
        "Microsoft.Compute/virtualMachineScaleSets/networkInterfaces/read",
    ] {
        let (bench, _running) = Bench::new("wedged-system-pool");
        change(&bench, |azure| {
            azure.deny(Denial { principal: None, action: action.to_owned(), scope: None });
        });
        refuses(&bench, "permissions", &[action]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn locks_on_cluster_groups_and_links_are_in_the_plan_and_nothing_is_written() {
    type Place = fn(&Azure) -> String;
    let cluster: Place = |azure| azure.options().cluster_id();
    let cluster_group: Place = |azure| group(azure, &azure.options().resource_group);
    let node_group: Place = |azure| group(azure, &azure.options().node_resource_group);
    let subscription: Place = |azure| format!("/subscriptions/{}", azure.options().subscription);
    let pool: Place = |azure| format!("{}/agentPools/system", azure.options().cluster_id());
    let network: Place = |azure| group(azure, "rg-network");
    for (place, level, steps) in [
        (cluster, LockLevel::CanNotDelete, "delete-pool, delete-temporary"),
        (cluster_group, LockLevel::CanNotDelete, "delete-pool, delete-temporary"),
        (node_group, LockLevel::CanNotDelete, "delete-pool, delete-temporary"),
        (subscription, LockLevel::CanNotDelete, "delete-pool"),
        (pool, LockLevel::CanNotDelete, "delete-pool"),
        (cluster, LockLevel::ReadOnly, "create-temporary"),
        (node_group, LockLevel::ReadOnly, "create-temporary"),
        (network, LockLevel::ReadOnly, "create-temporary"),
    ] {
        let (bench, _running) = Bench::own_network();
        let mut scope = String::new();
        change(&bench, |azure| {
            scope = place(azure);
            lock(azure, scope.clone(), level);
        });
        let told = format!("lock keep ({level:?}) on {scope} forbids {steps}");
        refuses(&bench, "locks", &[&told]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn lock_that_forbids_no_step_keeps_nothing_from_beginning() {
    let (bench, _running) = Bench::own_network();
    change(&bench, |azure| {
        lock(azure, group(azure, "rg-network"), LockLevel::CanNotDelete);
        let user = format!("{}/agentPools/user", azure.options().cluster_id());
        lock(azure, user, LockLevel::CanNotDelete);
    });
    let ending = bench.go().await.unwrap();
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Repaired))),
        "{ending:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn deny_assignment_is_in_the_plan_and_nothing_is_written() {
    let (bench, _running) = Bench::own_network();
    change(&bench, |azure| {
        azure.add_deny_assignment(DenyAssignment {
            name: "network stack".to_owned(),
            scope: group(azure, "rg-network"),
            actions: vec!["*".to_owned()],
            not_actions: vec!["*/read".to_owned()],
            except: vec!["someone-else".to_owned()],
        });
    });
    refuses(&bench, "deny-assignments", &["deny assignment network stack on", JOIN]).await;
    // One that is not for this identity, and that of a restricted node resource group, forbid nothing.
    let (bench, _running) = Bench::own_network();
    change(&bench, |azure| {
        let scope = group(azure, "rg-network");
        let except = vec![azure.options().principal.clone()];
        let (actions, not_actions) = (vec!["*".to_owned()], Vec::new());
        let name = "for others".to_owned();
        azure.add_deny_assignment(DenyAssignment { name, scope, actions, not_actions, except });
        let mut cluster = azure.resource(&azure.options().cluster_id()).unwrap().clone();
        cluster["properties"]["nodeResourceGroupProfile"] = json!({"restrictionLevel": "ReadOnly"});
        azure.put_resource(cluster);
    });
    let ending = bench.go().await.unwrap();
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Repaired))),
        "{ending:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn unreadable_rights_warn_and_change_the_hash() {
    let (bench, _running) = Bench::own_network();
    let expires = bench.shell.now() + jiff::SignedDuration::from_mins(30);
    let hash = async || {
        let plan = bench.operator().examine(Some(expires), None).await.plan.unwrap();
        (plan.document.hash(), plan)
    };
    let (readable, _) = hash().await;
    for (name, action) in [
        ("permissions", "Microsoft.Authorization/permissions/read"),
        ("locks", "Microsoft.Authorization/locks/read"),
        ("deny-assignments", "Microsoft.Authorization/denyAssignments/read"),
    ] {
        change(&bench, |azure| {
            azure.clear_denials();
            azure.deny(Denial { principal: None, action: action.to_owned(), scope: None });
        });
        let (unread, plan) = hash().await;
        assert_ne!(unread, readable, "{name}");
        let check = found(&plan, name);
        assert!(
            check.outcome == Outcome::Unknown && mooring_repair::checks::warns(check),
            "{check:?}"
        );
        assert!(check.detail().contains("AuthorizationFailed"), "{check:?}");
    }
    let ending = bench.go().await.unwrap();
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Repaired))),
        "{ending:?}"
    );
}

/// What is taken away or locked while a run goes on stops it with the right, its scope and the next step, at once.
#[tokio::test(start_paused = true)]
async fn right_that_is_lost_on_the_way_is_named_once_and_not_tried_again() {
    let (bench, _running) = Bench::own_network();
    let examined = bench.operator().examine(None, None).await;
    let plan = examined.plan.unwrap();
    change(&bench, |azure| azure.unassign(&group(azure, "rg-network")));
    let approval = Approval::Typed(plan.document.hash());
    let guards = &examined.report.detection.guards;
    let ending = bench.operator().apply(&plan, guards, approval, Box::new(|_, _, _| {})).await;
    let CommandResult::Rested(RunOutcome::Resumable { message, .. }) = ending else {
        panic!("{ending:?}")
    };
    for part in ["LinkedAuthorizationFailed", JOIN, "subnets/aks-subnet", "run `resume`"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let puts = |bench: &Bench| {
        let sent = bench.sent.lock().unwrap();
        sent.iter().filter(|sent| sent.starts_with("PUT") && sent.contains("agentPools")).count()
    };
    assert_eq!(puts(&bench), 1);

    let (bench, _running) = Bench::new("wedged-system-pool");
    let examined = bench.operator().examine(None, None).await;
    let plan = examined.plan.unwrap();
    change(&bench, |azure| lock(azure, azure.options().cluster_id(), LockLevel::CanNotDelete));
    let approval = Approval::Typed(plan.document.hash());
    let guards = &examined.report.detection.guards;
    let ending = bench.operator().apply(&plan, guards, approval, Box::new(|_, _, _| {})).await;
    let CommandResult::Rested(RunOutcome::Resumable { message, .. }) = ending else {
        panic!("{ending:?}")
    };
    assert!(message.contains("ScopeLocked") && message.contains("are locked: '"), "{message}");
    let sent = bench.sent.lock().unwrap().clone();
    let deletes = sent.iter().filter(|sent| sent.starts_with("DELETE")).count();
    assert_eq!(deletes, 1, "{sent:?}");
}
