//! The role definitions in `packaging/roles` allow exactly the actions that each part of Mooring needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::common::{TestWorld, answer, cluster, pool};
use mooring_arm::calls::{ActivityQuery, Cluster, DeletePool, Script, Vm};
use mooring_arm::{Client, ResourceId};
use serde_json::{Value, json};

/// Documented actions of reads that follow an operation to its end.
const FOLLOWED: [&str; 2] = [
    "Microsoft.ContainerService/locations/operations/read",
    "Microsoft.ContainerService/locations/operationresults/read",
];
/// A query returns only rows of types that may be read.
const QUERIED: &str = "Microsoft.Compute/virtualMachines/extensions/read";
/// Actions that a write of a pool needs on other resources.
const LINKED: &str = "repair/src/checks/needs.rs";
/// Only with `--run-command`.
const ON_REQUEST: &str = "run_script";

/// Makes a call by its name, and ignores the response.
async fn make(client: &Client, name: &str) {
    let id = |text: &str| ResourceId::of("s", "MC_rg", "Microsoft.Compute", text).unwrap();
    let (vm, set) = (id("virtualMachines/v"), id("virtualMachineScaleSets/x"));
    let machine = pool().child("machines", "m").unwrap();
    let body = json!({});
    let now = "2026-11-15T05:00:00Z".parse().unwrap();
    match name {
        "activity_log" => {
            drop(client.activity_log("s", &ActivityQuery::of_group("rg", now, now)).await);
        }
        "agent_pools" => drop(client.agent_pools(&cluster()).await),
        "agent_pool" => drop(client.agent_pool(&pool()).await),
        "put_agent_pool" => drop(client.put_agent_pool(&pool(), &body, None).await),
        "create_agent_pool" => drop(client.create_agent_pool(&pool(), &body).await),
        "delete_agent_pool" => {
            drop(client.delete_agent_pool(&pool(), &DeletePool::default()).await);
        }
        "abort_agent_pool" => drop(client.abort_agent_pool(&pool()).await),
        "vm_usages" => drop(client.vm_usages("s", "westeurope").await),
        "vm_sizes" => drop(client.vm_sizes("s", "westeurope").await),
        "cluster" => drop(client.cluster::<Cluster>(&cluster()).await),
        "abort_cluster" => drop(client.abort_cluster(&cluster()).await),
        "latest_operation" => drop(client.latest_operation(&cluster()).await),
        "merge_tags" => drop(client.merge_tags(&cluster(), &BTreeMap::new()).await),
        "user_credentials" => drop(client.user_credentials(&cluster(), None).await),
        "graph" => drop(client.graph::<Value>(&["s"], "resources").await),
        "machines" => drop(client.machines(&pool()).await),
        "machine" => drop(client.machine(&machine).await),
        "scale_set_nics" => drop(client.scale_set_nics(&set).await),
        "subnet" => {
            let net = ResourceId::of("s", "net", "Microsoft.Network", "virtualNetworks/n").unwrap();
            drop(client.subnet(&net.child("subnets", "x").unwrap()).await);
        }
        "run_script" => drop(client.run_script(&vm, &Script { lines: &["true"] }).await),
        "permissions" => drop(client.permissions(&cluster()).await),
        "deny_assignments" => drop(client.deny_assignments(&cluster()).await),
        "locks" => drop(client.locks(&cluster()).await),
        "scale_sets" => drop(client.scale_sets::<Value>("s", "MC_rg").await),
        "scale_set_vms" => drop(client.scale_set_vms::<Value>(&set).await),
        "vm" => drop(client.vm::<Vm>(&vm).await),
        "extensions" => drop(client.extensions(&vm).await),
        "serial_log" => drop(client.serial_log(&vm).await),
        "managed_by" => drop(client.managed_by("s", "MC_rg").await),
        new => panic!("add the call `{new}` here, so that its permission is checked"),
    }
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(paths: &[&str]) -> String {
    let mut text = String::new();
    let mut left: Vec<PathBuf> = paths.iter().map(|path| crates().join(path)).collect();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            text += &std::fs::read_to_string(path).unwrap();
        }
    }
    text
}

/// Returns all calls of the client by name, with the action that Azure checks.
async fn actions() -> BTreeMap<String, String> {
    let text = sources(&["arm/src/calls"]);
    let mut actions = BTreeMap::new();
    for part in text.split("    pub async fn ").skip(1) {
        let name = part.split(['(', '<']).next().unwrap();
        let world = TestWorld::new([answer(200, &[], "{}")]);
        make(&world.client(), name).await;
        let seen = world.seen(0);
        actions.insert(name.to_owned(), action(&seen.method, &seen.target));
    }
    actions
}

/// Returns the types after the last provider, and a verb.
fn action(method: &str, target: &str) -> String {
    let path = target.split('?').next().unwrap();
    let Some((_, after)) = path.rsplit_once("/providers/") else {
        return "Microsoft.Resources/subscriptions/resourceGroups/read".to_owned();
    };
    let (provider, after) = after.split_once('/').unwrap();
    let types: Vec<&str> = after.split('/').step_by(2).collect();
    let verb = match method {
        // Azure counts its queries as reads.
        _ if provider == "Microsoft.ResourceGraph" => "read",
        "GET" => "read",
        "PUT" | "PATCH" => "write",
        "DELETE" => "delete",
        _ => "action",
    };
    format!("{provider}/{}/{verb}", types.join("/"))
}

fn quoted_actions(source: &str) -> impl Iterator<Item = &str> {
    let quoted = source.split('"').skip(1).step_by(2);
    quoted.filter(|text| text.starts_with("Microsoft.") && text.matches('/').count() >= 2)
}

/// The actions of role definitions.
fn allowed(files: &[&str]) -> BTreeSet<String> {
    let directory = crates().join("../packaging/roles");
    let mut allowed = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(directory.join(file)).unwrap();
        let role: Value = serde_json::from_str(&text).unwrap();
        let list = role["Actions"].as_array().unwrap().clone();
        assert!(role["DataActions"].as_array().unwrap().is_empty(), "{file}");
        allowed.extend(list.iter().map(|action| action.as_str().unwrap().to_owned()));
    }
    allowed
}

fn covers(allowed: &str, action: &str) -> bool {
    match allowed.split_once('*') {
        Some((head, tail)) => action.starts_with(head) && action.ends_with(tail),
        None => allowed == action,
    }
}

#[tokio::test(start_paused = true)]
async fn roles_allow_exactly_the_required_actions() {
    let actions = actions().await;
    assert!(actions.len() >= 23, "{actions:?}");
    for (sources_of, roles, followed) in [
        (
            &["controller/src/run", "mooring/src/cluster/connect.rs"][..],
            &["mooring-controller.json"][..],
            false,
        ),
        (
            &[
                "controller/src/run/read.rs",
                "controller/src/query",
                "mooring/src/cluster/connect.rs",
            ],
            &["mooring-why.json"],
            false,
        ),
        (
            &["repair/src/runtime"],
            &[
                "mooring-repair.json",
                "mooring-repair-nodes.json",
                "mooring-repair-subscription.json",
                "mooring-repair-linked.json",
            ],
            true,
        ),
    ] {
        let text = sources(sources_of);
        let is_used = |name: &str| {
            text.contains(&format!(".{name}(")) || text.contains(&format!(".{name}::<"))
        };
        let used = actions.iter().filter(|(name, _)| is_used(name) && *name != ON_REQUEST);
        let mut needed: BTreeSet<&str> = used.map(|(_, action)| action.as_str()).collect();
        if needed.contains("Microsoft.ResourceGraph/resources/read") {
            needed.insert(QUERIED);
        }
        let linked = sources(&[LINKED]);
        if followed {
            needed.extend(FOLLOWED);
            // AKS performs these itself.
            let by_aks =
                |action: &str| action.starts_with("Microsoft.Compute/virtualMachineScaleSets/");
            needed.extend(quoted_actions(&linked).filter(|action| !by_aks(action)));
        }
        let allowed = allowed(roles);
        for action in &needed {
            assert!(allowed.iter().any(|one| covers(one, action)), "{roles:?} lack {action}");
        }
        for one in &allowed {
            assert!(needed.iter().any(|action| covers(one, action)), "{roles:?}: unused {one}");
        }
    }
}

#[test]
fn security_document_links_every_role_file() {
    let document = std::fs::read_to_string(crates().join("../docs/SECURITY.md")).unwrap();
    for file in std::fs::read_dir(crates().join("../packaging/roles")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let link = format!("](../packaging/roles/{name})");
        assert!(document.contains(&link), "docs/SECURITY.md does not link {name}");
    }
}
