//! Locks, missing permissions on linked resources and deny assignments block before the first change.

use mooring_repair::plan::Plan;
use mooring_repair::runtime::CommandResult;
use mooring_repair::start_checks::StartError;
use mooring_simulator::azure::{ActionDenial, Azure, DenyAssignment, Lock, LockLevel};
use mooring_workflow::CheckResult;
use mooring_workflow::Outcome;
use mooring_workflow::RunOutcome;
use mooring_workflow::approval::Approval;
use serde_json::json;

use super::harness::Harness;

const JOIN: &str = "Microsoft.Network/virtualNetworks/subnets/join/action";

fn change(harness: &Harness, act: impl FnOnce(&mut Azure)) {
    harness.shell.with(|world, _| act(world.azure_mut()));
}

fn group(azure: &Azure, name: &str) -> String {
    format!("/subscriptions/{}/resourceGroups/{name}", azure.options().subscription)
}

fn lock(azure: &mut Azure, scope: String, level: LockLevel) {
    azure.add_lock(Lock { scope, name: "keep".to_owned(), level, notes: None });
}

fn found<'a>(plan: &'a Plan, name: &str) -> &'a CheckResult {
    plan.checks.iter().find(|check| check.name == name).unwrap()
}

async fn planned(harness: &Harness) -> Plan {
    harness.operator().examine(None, None).await.plan.unwrap()
}

/// The plan shows the blocker, and `apply` sends no write to Azure or Kubernetes, including the journal.
async fn refuses(harness: &Harness, name: &str, parts: &[&str]) {
    let mut operator = harness.operator();
    let examined = operator.examine(None, None).await;
    let plan = examined.plan.unwrap();
    let check = found(&plan, name);
    assert_eq!(check.outcome, Outcome::Fail, "{check:?}");
    let table = mooring_repair::screens::plan(&plan, &examined.report, Some(&[]), false)
        .render(&mooring_terminal::Style::PIPE);
    for part in parts {
        assert!(check.detail().contains(part) && table.contains(part), "{part}: {table}");
    }
    let checks = &examined.report.detection.checks;
    let approval = Approval::Typed(plan.document.hash());
    let ending = operator.apply(&plan, checks, approval, Box::new(|_, _, _| {})).await;
    let CommandResult::Refused(StartError::Blocked(why)) = ending else { panic!("{ending:?}") };
    assert!(why.contains(&format!("{name}: ")), "{why}");
    assert_eq!(*harness.sent.lock().unwrap(), Vec::<String>::new());
    let journals = harness
        .shell
        .with(|world, _| world.kubernetes().objects("configmaps", Some("mooring-system")).count());
    assert_eq!(journals, 0, "not even a lock of the journal");
}

/// Locks and deny assignments that concern no step, or another identity, block nothing.
#[tokio::test(start_paused = true)]
async fn pool_in_an_own_network_is_rebuilt_with_the_shipped_roles() {
    let (harness, _running) = Harness::own_network();
    change(&harness, |azure| {
        let scope = group(azure, "rg-network");
        lock(azure, scope.clone(), LockLevel::CanNotDelete);
        let user = format!("{}/agentPools/user", azure.options().cluster_id());
        lock(azure, user, LockLevel::CanNotDelete);
        let except = vec![azure.options().principal.clone()];
        let (actions, not_actions) = (vec!["*".to_owned()], Vec::new());
        let name = "for others".to_owned();
        azure.add_deny_assignment(DenyAssignment { name, scope, actions, not_actions, except });
        let mut cluster = azure.resource(&azure.options().cluster_id()).unwrap().clone();
        cluster["properties"]["nodeResourceGroupProfile"] = json!({"restrictionLevel": "ReadOnly"});
        azure.put_resource(cluster);
    });
    let plan = planned(&harness).await;
    for name in ["permissions", "locks", "deny-assignments"] {
        let check = found(&plan, name);
        assert_eq!(check.outcome, Outcome::Pass, "{check:?}");
    }
    harness.completes().await;
}

#[tokio::test(start_paused = true)]
async fn missing_linked_permission_blocks_before_any_write() {
    let (harness, _running) = Harness::own_network();
    let mut subnet = String::new();
    change(&harness, |azure| {
        subnet = azure.options().subnet();
        azure.unassign(&group(azure, "rg-network"));
    });
    refuses(&harness, "permissions", &[JOIN, &subnet, "mooring-repair-linked.json"]).await;
}

/// Permission to abort is needed only while an operation is running.
#[tokio::test(start_paused = true)]
async fn operation_is_not_aborted_without_later_permissions() {
    for action in [
        "Microsoft.ContainerService/managedClusters/abort/action",
        "Microsoft.ContainerService/managedClusters/agentPools/delete",
        "Microsoft.ContainerService/managedClusters/agentPools/write",
        "Microsoft.Resources/tags/write",
        "Microsoft.Compute/virtualMachineScaleSets/networkInterfaces/read",
    ] {
        let (harness, _running) = Harness::new("wedged-system-pool");
        change(&harness, |azure| {
            azure.deny(ActionDenial { principal: None, action: action.to_owned(), scope: None });
        });
        refuses(&harness, "permissions", &[action]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn locks_on_cluster_groups_and_links_block_before_any_write() {
    type LockScope = fn(&Azure) -> String;
    let cluster: LockScope = |azure| azure.options().cluster_id();
    let cluster_group: LockScope = |azure| group(azure, &azure.options().resource_group);
    let node_group: LockScope = |azure| group(azure, &azure.options().node_resource_group);
    let subscription: LockScope =
        |azure| format!("/subscriptions/{}", azure.options().subscription);
    let pool: LockScope = |azure| format!("{}/agentPools/system", azure.options().cluster_id());
    let network: LockScope = |azure| group(azure, "rg-network");
    for (place, level, steps) in [
        (cluster, LockLevel::CanNotDelete, "delete-pool, delete-temporary"),
        (cluster_group, LockLevel::CanNotDelete, "delete-pool, delete-temporary"),
        (node_group, LockLevel::CanNotDelete, "delete-pool, delete-temporary"),
        (subscription, LockLevel::CanNotDelete, "delete-pool"),
        (pool, LockLevel::CanNotDelete, "delete-pool"),
        (cluster, LockLevel::ReadOnly, "clear-operation, create-temporary, delete-pool"),
        (node_group, LockLevel::ReadOnly, "create-temporary"),
        (network, LockLevel::ReadOnly, "create-temporary"),
    ] {
        let (harness, _running) = Harness::own_network();
        let mut scope = String::new();
        change(&harness, |azure| {
            scope = place(azure);
            lock(azure, scope.clone(), level);
        });
        let expected = format!("lock keep ({level:?}) on {scope} blocks {steps}");
        refuses(&harness, "locks", &[&expected]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn deny_assignment_blocks_before_any_write() {
    let (harness, _running) = Harness::own_network();
    change(&harness, |azure| {
        azure.add_deny_assignment(DenyAssignment {
            name: "network stack".to_owned(),
            scope: group(azure, "rg-network"),
            actions: vec!["*".to_owned()],
            not_actions: vec!["*/read".to_owned()],
            except: vec!["someone-else".to_owned()],
        });
    });
    refuses(&harness, "deny-assignments", &["deny assignment network stack on", JOIN]).await;
}

#[tokio::test(start_paused = true)]
async fn unreadable_permissions_warn_and_change_the_hash() {
    let (harness, _running) = Harness::own_network();
    let expires = harness.shell.now() + jiff::SignedDuration::from_mins(30);
    let hash = async || {
        let plan = harness.operator().examine(Some(expires), None).await.plan.unwrap();
        (plan.document.hash(), plan)
    };
    let (readable, _) = hash().await;
    for (name, action) in [
        ("permissions", "Microsoft.Authorization/permissions/read"),
        ("locks", "Microsoft.Authorization/locks/read"),
        ("deny-assignments", "Microsoft.Authorization/denyAssignments/read"),
    ] {
        change(&harness, |azure| {
            azure.clear_denials();
            azure.deny(ActionDenial { principal: None, action: action.to_owned(), scope: None });
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
    harness.completes().await;
}

/// A permission that is removed or a lock that is added during a run stops it at once, with action, scope and next step.
#[tokio::test(start_paused = true)]
async fn permission_lost_during_a_run_is_reported_without_retry() {
    type Loss = fn(&mut Azure);
    let cases: [(Loss, &str, &[&str]); 2] = [
        (
            |azure| azure.unassign(&group(azure, "rg-network")),
            "PUT",
            &["LinkedAuthorizationFailed", JOIN, "subnets/aks-subnet", "run `resume`"],
        ),
        (
            |azure| lock(azure, azure.options().cluster_id(), LockLevel::CanNotDelete),
            "DELETE",
            &["ScopeLocked", "are locked: '"],
        ),
    ];
    for (lose, method, parts) in cases {
        let (harness, _running) = Harness::own_network();
        let ending = harness.apply(|_| change(&harness, lose)).await;
        let CommandResult::Stopped(RunOutcome::Resumable { message, .. }) = ending else {
            panic!("{ending:?}")
        };
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        let sent = harness.sent.lock().unwrap().clone();
        let is_last = |sent: &&String| sent.starts_with(method) && sent.contains("agentPools");
        assert_eq!(sent.iter().filter(is_last).count(), 1, "{sent:?}");
    }
}
