//! Roles, deny assignments, linked resources and locks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mooring_simulator::azure::{
    ActionDenial, AzureOptions, Cse, DeletingView, DenyAssignment, ForeignExtension, Guest, Lock,
    LockLevel, NewVm,
};
use mooring_simulator::scenario::Scenario;
use serde_json::{Value, json};

use super::support::{CLUSTER, COMPUTE, Harness, Reply};

const SUBSCRIPTION: &str = "/subscriptions/00000000-0000-0000-0000-000000000001";
const JOIN: &str = "Microsoft.Network/virtualNetworks/subnets/join/action";

fn group(name: &str) -> String {
    format!("{SUBSCRIPTION}/resourceGroups/{name}")
}

fn node_group() -> String {
    group("MC_rg-demo_demo_westeurope")
}

/// Returns a cluster whose pools are in a custom network, with the shipped roles.
fn own_network() -> Harness {
    let scenario = Scenario { own_network: true, ..Scenario::named("healthy").unwrap() };
    Harness::shipped(&scenario)
}

fn authorization(harness: &mut Harness, scope: &str, kind: &str, version: &str) -> Reply {
    let path = format!("{scope}/providers/Microsoft.Authorization/{kind}");
    harness.call("GET", &format!("{path}?api-version={version}"), None)
}

fn new_pool(harness: &mut Harness, members: &Value) -> Reply {
    let mut body = json!({"properties": {"count": 1, "vmSize": "Standard_D4s_v5", "mode": "User"}});
    for (name, value) in members.as_object().unwrap() {
        body["properties"][name] = value.clone();
    }
    harness.put(&format!("{CLUSTER}/agentPools/extra"), &body)
}

fn lock(harness: &mut Harness, scope: &str, level: LockLevel) {
    let (scope, name) = (scope.to_owned(), "keep".to_owned());
    harness.azure.add_lock(Lock { scope, name, level, notes: None });
}

#[test]
fn pool_in_a_foreign_subnet_needs_join_permission() {
    let mut harness = own_network();
    let subnet = harness.azure.options().subnet();
    harness.azure.unassign(&group("rg-network"));
    let refused = new_pool(&mut harness, &json!({"vnetSubnetID": subnet}));
    assert_eq!((refused.status, refused.code()), (403, "LinkedAuthorizationFailed"));
    let who = harness.azure.options().principal.clone();
    assert_eq!(
        refused.text("/error/message"),
        format!(
            "The client '{who}' with object id '{who}' has permission to perform action 'Microsoft.ContainerService/managedClusters/agentPools/write' on scope '{CLUSTER}/agentPools/extra'; however, it does not have permission to perform action '{JOIN}' on the linked scope(s) '{subnet}' or the linked scope(s) are invalid."
        )
    );
    assert_eq!(harness.get(&format!("{CLUSTER}/agentPools/extra")).status, 404);
    let mut harness = own_network();
    assert_eq!(new_pool(&mut harness, &json!({"vnetSubnetID": subnet})).status, 201);
}

#[test]
fn linked_resources_need_their_actions() {
    let network = format!("{}/providers/Microsoft.Network", group("rg-other"));
    let compute = format!("{}/providers/Microsoft.Compute", group("rg-other"));
    for (member, id, action) in [
        ("podSubnetID", format!("{network}/virtualNetworks/v/subnets/s"), JOIN),
        (
            "nodePublicIPPrefixID",
            format!("{network}/publicIPPrefixes/p"),
            "Microsoft.Network/publicIPPrefixes/join/action",
        ),
        (
            "proximityPlacementGroupID",
            format!("{compute}/proximityPlacementGroups/p"),
            "Microsoft.Compute/proximityPlacementGroups/write",
        ),
    ] {
        let mut harness = Harness::shipped(&Scenario::named("healthy").unwrap());
        let refused = new_pool(&mut harness, &json!({member: id}));
        assert_eq!(refused.code(), "LinkedAuthorizationFailed", "{member}");
        assert!(refused.text("/error/message").contains(action), "{:?}", refused.body);
        let mut harness = Harness::new("healthy");
        assert_eq!(new_pool(&mut harness, &json!({member: id})).status, 201, "{member}");
    }
    for (pointer, id, action) in [
        (
            "diskEncryptionSetID",
            json!(format!("{compute}/diskEncryptionSets/d")),
            "Microsoft.Compute/diskEncryptionSets/read",
        ),
        (
            "identityProfile",
            json!({"kubeletidentity": {"resourceId": format!("{}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i", group("rg-other"))}}),
            "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action",
        ),
    ] {
        let mut harness = Harness::shipped(&Scenario::named("healthy").unwrap());
        let mut cluster = harness.azure.resource(CLUSTER).unwrap().clone();
        cluster["properties"][pointer] = id;
        harness.azure.put_resource(cluster);
        let refused = new_pool(&mut harness, &json!({}));
        assert!(refused.text("/error/message").contains(action), "{:?}", refused.body);
    }
}

#[test]
fn permissions_are_inherited_and_name_what_is_taken_away() {
    let mut harness = own_network();
    let (subnet, nodes) = (harness.azure.options().subnet(), node_group());
    let mut grants = |scope: &str, action: &str| {
        let list = authorization(&mut harness, scope, "permissions", "2022-04-01");
        assert_eq!(list.status, 200, "{:?}", list.body);
        let has = |entry: &Value, name: &str| {
            entry[name].as_array().unwrap().iter().any(|one| one == action)
        };
        let entries = list.body["value"].as_array().unwrap().clone();
        entries.iter().any(|entry| has(entry, "actions") && !has(entry, "notActions"))
    };
    let write = "Microsoft.ContainerService/managedClusters/agentPools/write";
    assert!(grants(CLUSTER, write));
    assert!(grants(&format!("{CLUSTER}/agentPools/system"), write), "inherited");
    assert!(!grants(&group("rg-demo"), write), "not from below");
    assert!(grants(&subnet, JOIN) && !grants(&nodes, JOIN));
    harness.azure.deny(ActionDenial { principal: None, action: JOIN.to_owned(), scope: None });
    let list = authorization(&mut harness, &subnet, "permissions", "2022-04-01");
    let entries = list.body["value"].as_array().unwrap();
    let all_taken = |entry: &Value| entry["notActions"].as_array().unwrap().contains(&json!(JOIN));
    assert!(entries.iter().all(all_taken), "{:?}", list.body);
    // A caller without permission is denied.
    let action = "Microsoft.Authorization/*".to_owned();
    harness.azure.deny(ActionDenial { principal: None, action, scope: None });
    let list = authorization(&mut harness, &subnet, "permissions", "2022-04-01");
    assert_eq!((list.status, list.code()), (403, "AuthorizationFailed"));
}

#[test]
fn locks_are_inherited_and_enforce_their_level() {
    let delete = |harness: &mut Harness| harness.delete(&format!("{CLUSTER}/agentPools/user"));
    let write = |harness: &mut Harness| new_pool(harness, &json!({}));
    for scope in [SUBSCRIPTION.to_owned(), group("RG-Demo"), CLUSTER.to_owned()] {
        let mut harness = Harness::new("healthy");
        lock(&mut harness, &scope, LockLevel::CanNotDelete);
        let refused = delete(&mut harness);
        assert_eq!((refused.status, refused.code()), (409, "ScopeLocked"));
        assert_eq!(
            refused.text("/error/message"),
            format!(
                "The scope '{CLUSTER}/agentPools/user' cannot perform delete operation because following scope(s) are locked: '{scope}'. Please remove the lock and try again."
            )
        );
        assert_eq!(write(&mut harness).status, 201, "only deleting is locked");
        let mut harness = Harness::new("healthy");
        lock(&mut harness, &scope, LockLevel::ReadOnly);
        for refused in [
            delete(&mut harness),
            write(&mut harness),
            harness.post(&format!("{CLUSTER}/listClusterUserCredential")),
            harness.post(&format!("{CLUSTER}/abort")),
            harness.post(&format!("{CLUSTER}/agentPools/user/abort")),
            harness.post(&format!("{CLUSTER}/runCommand")),
        ] {
            assert_eq!(
                (refused.status, refused.code()),
                (409, "ScopeLocked"),
                "{:?}",
                refused.body
            );
        }
        assert_eq!(harness.get(CLUSTER).status, 200);
        // Listed from the scope itself, from below and from above.
        for from in [&scope, &format!("{CLUSTER}/agentPools/user"), SUBSCRIPTION] {
            let list = authorization(&mut harness, from, "locks", "2020-05-01");
            assert_eq!(list.text("/value/0/properties/level"), "ReadOnly", "{from}");
        }
        let elsewhere = authorization(&mut harness, &group("rg-network"), "locks", "2020-05-01");
        let seen = elsewhere.body["value"].as_array().unwrap().len();
        assert_eq!(seen, usize::from(scope == SUBSCRIPTION));
    }
    let mut harness = Harness::new("healthy");
    lock(&mut harness, SUBSCRIPTION, LockLevel::NotSpecified);
    assert_eq!(delete(&mut harness).status, 202);
}

#[test]
fn a_lock_on_the_node_resource_group_fails_the_pool_later() {
    let mut harness = Harness::new("healthy");
    lock(&mut harness, &node_group(), LockLevel::CanNotDelete);
    let accepted = harness.delete(&format!("{CLUSTER}/agentPools/user"));
    assert_eq!(accepted.status, 202, "the lock is not on the pool");
    harness.pass(600);
    assert_eq!(harness.pool_state("user"), "Failed");
    assert_eq!(harness.follow(&accepted).text("/error/code"), "ScopeLocked");
    assert!(harness.vmss("user").is_some());
}

#[test]
fn a_restricted_node_resource_group_denies_even_its_owner() {
    let mut harness = Harness::new("healthy");
    let mut cluster = harness.azure.resource(CLUSTER).unwrap().clone();
    cluster["properties"]["nodeResourceGroupProfile"] = json!({"restrictionLevel": "ReadOnly"});
    harness.azure.put_resource(cluster);
    let set = harness.vmss("user").unwrap()["id"].as_str().unwrap().to_owned();
    let refused = harness.call(
        "PATCH",
        &format!("{set}?api-version=2024-07-01"),
        Some(&json!({"tags": {"a": "b"}})),
    );
    assert_eq!((refused.status, refused.code()), (403, "DenyAssignmentAuthorizationFailed"));
    let list = authorization(&mut harness, &node_group(), "denyAssignments", "2022-04-01");
    let name = list.text("/value/0/properties/denyAssignmentName").to_owned();
    assert!(refused.text("/error/message").contains(&name), "{:?}", refused.body);
    assert_eq!(
        harness.get(&format!("{COMPUTE}/virtualMachineScaleSets")).status,
        200,
        "reads go on"
    );
    // AKS itself is not denied.
    assert_eq!(harness.delete(&format!("{CLUSTER}/agentPools/user")).status, 202);
    harness.pass(600);
    assert!(harness.vmss("user").is_none());
}

#[test]
fn a_deny_assignment_wins_over_a_role_also_on_a_linked_resource() {
    let mut harness = own_network();
    let subnet = harness.azure.options().subnet();
    harness.azure.add_deny_assignment(DenyAssignment {
        name: "stack".to_owned(),
        scope: group("rg-network"),
        actions: vec!["Microsoft.Network/*".to_owned()],
        not_actions: vec!["*/read".to_owned()],
        except: Vec::new(),
    });
    let refused = new_pool(&mut harness, &json!({"vnetSubnetID": subnet}));
    assert_eq!((refused.status, refused.code()), (403, "DenyAssignmentAuthorizationFailed"));
    assert!(refused.text("/error/message").contains("deny assignment with name 'stack'"));
}

#[test]
fn credentials_follow_from_the_clusters_own_settings() {
    let with = |properties: Value, what: &str| {
        let mut harness = Harness::new("healthy");
        let mut cluster = harness.azure.resource(CLUSTER).unwrap().clone();
        for (name, value) in properties.as_object().unwrap() {
            cluster["properties"][name] = value.clone();
        }
        harness.azure.put_resource(cluster);
        harness.post(&format!("{CLUSTER}/{what}"))
    };
    let config = |seen: &Reply| {
        let bytes = STANDARD.decode(seen.text("/kubeconfigs/0/value")).unwrap();
        serde_json::from_slice::<Value>(&bytes).unwrap()
    };
    let user = "listClusterUserCredential";
    let entra = config(&with(json!({}), user));
    assert_eq!(entra["users"][0]["user"]["exec"]["command"], "kubelogin");
    let local = config(&with(json!({"aadProfile": null, "disableLocalAccounts": false}), user));
    assert!(local["users"][0]["user"]["token"].is_string(), "{local}");
    let disabled = "Getting static credential is not allowed because this cluster is set to disable local accounts.";
    for (properties, what) in
        [(json!({"aadProfile": null}), user), (json!({}), "listClusterAdminCredential")]
    {
        let refused = with(properties, what);
        assert_eq!((refused.status, refused.code()), (400, "BadRequest"));
        assert_eq!(refused.text("/message"), disabled);
    }
    let private = json!({"apiServerAccessProfile": {"enablePrivateCluster": true, "enablePrivateClusterPublicFQDN": true},
        "privateFQDN": "demo.privatelink.example"});
    let server =
        |config: &Value| config["clusters"][0]["cluster"]["server"].as_str().unwrap().to_owned();
    assert_eq!(server(&config(&with(private, user))), "https://demo.privatelink.example:443");
}

#[test]
fn views_show_what_others_do_to_a_machine() {
    let path = format!("{COMPUTE}/virtualMachines/aks-default-x1");
    let with = |deleting_view: DeletingView| {
        let options = AzureOptions { deleting_view, ..AzureOptions::default() };
        let mut harness = Harness::with("healthy", 1, options);
        let created = harness.now;
        let vm = NewVm::booting("aks-default-x1", "202601.13.0", Cse::default(), created);
        harness.azure.create_vm(&vm);
        harness.pass(600);
        harness
    };
    let view = |harness: &mut Harness| harness.get(&format!("{path}?$expand=instanceView"));
    let mut harness = with(DeletingView::Full);
    for (name, state) in [("AzurePolicy", "Succeeded"), ("zz-script", "Failed")] {
        assert!(harness.azure.add_extension(
            &path,
            &ForeignExtension {
                name: name.to_owned(),
                publisher: "Microsoft.Azure.Extensions".to_owned(),
                kind: "CustomScript".to_owned(),
                state: state.to_owned(),
                message: "not the bootstrap".to_owned(),
                suppress_failures: true,
            }
        ));
    }
    let seen = view(&mut harness);
    let names = |list: &Value| -> Vec<String> {
        list.as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let mut views = names(&seen.body["properties"]["instanceView"]["extensions"]);
    assert_eq!(seen.body["resources"][2]["properties"]["provisioningState"], "Succeeded", "hidden");
    views.reverse();
    assert_eq!(views, names(&seen.body["resources"]), "in another order");
    assert!(seen.body["properties"]["instanceView"]["disks"].is_array());
    harness.azure.silence_agent(&path);
    let agent = "/properties/instanceView/vmAgent/vmAgentVersion";
    assert_eq!(view(&mut harness).text(agent), "Unknown");
    for (deleting_view, status, extensions) in [
        (DeletingView::Full, 200, true),
        (DeletingView::StatusesOnly, 200, false),
        (DeletingView::Gone, 404, false),
    ] {
        let mut harness = with(deleting_view);
        assert_eq!(harness.delete(&path).status, 202);
        let seen = view(&mut harness);
        let shown = seen.body["properties"]["instanceView"]["extensions"].is_array();
        assert_eq!((seen.status, shown), (status, extensions), "{deleting_view:?}");
    }
}

#[test]
fn commands_run_one_at_a_time_and_hang_without_an_agent() {
    let path = format!("{COMPUTE}/virtualMachines/aks-default-x1");
    let harness = |cse: Cse| {
        let mut harness = Harness::new("healthy");
        let created = harness.now;
        harness.azure.create_vm(&NewVm::booting("aks-default-x1", "202601.13.0", cse, created));
        harness.pass(600);
        harness
    };
    let run = |harness: &mut Harness, lines: &[&str]| {
        let target = format!("{path}/runCommand?api-version=2024-07-01");
        harness.call(
            "POST",
            &target,
            Some(&json!({"commandId": "RunShellScript", "script": lines})),
        )
    };
    let cat = ["cat /var/log/azure/aks/provision.json"];
    let noisy = Cse { output: "\"".repeat(3000), ..Cse::oras_missing() };
    let mut first = harness(noisy);
    let accepted = run(&mut first, &cat);
    assert_eq!(accepted.status, 202);
    let second = run(&mut first, &cat);
    assert_eq!((second.status, second.code()), (409, "Conflict"));
    assert!(
        second.text("/error/message").starts_with("Run command extension execution is in progress")
    );
    first.pass(60);
    let done = first.follow(&accepted);
    let printed = done.text("/properties/output/value/0/message").to_owned();
    let stdout = printed.split_once("[stdout]\n").unwrap().1.split_once("\n[stderr]").unwrap().0;
    assert_eq!(stdout.len(), 4096);
    assert!(!stdout.contains("ExitCode"), "the head is lost");
    assert_eq!(run(&mut first, &cat).status, 202, "the next one may run");
    let mut silent = harness(Cse { guest: Guest::Silent, ..Cse::default() });
    let hanging = run(&mut silent, &cat);
    silent.pass(80 * 60);
    assert_eq!(silent.follow(&hanging).text("/status"), "InProgress");
    silent.pass(11 * 60);
    assert_eq!(silent.follow(&hanging).text("/status"), "Failed");
}
