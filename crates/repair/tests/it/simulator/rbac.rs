//! Kubernetes permissions of the repair in `packaging/roles/mooring-repair-cluster.yaml`.

use mooring_repair::runtime::store;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use mooring_simulator::kubernetes::{Key, Kubernetes, User};
use mooring_workflow::store::NAMESPACE;
use serde_json::{Value, json};

use super::harness::Harness;

const ROLES: &str = include_str!("../../../../../packaging/roles/mooring-repair-cluster.yaml");
const GROUP: &str = "rbac.authorization.k8s.io";
pub(crate) const TOKEN: &str = "repair-token";

/// Verb, group and resource of a request.
pub(crate) type Requests = Arc<Mutex<BTreeSet<[String; 3]>>>;

fn manifests() -> Vec<Value> {
    ROLES.split("\n---\n").map(|role| serde_saphyr::from_str(role).unwrap()).collect()
}

fn roles() -> Vec<Value> {
    let is_role =
        |object: &Value| object["kind"].as_str().is_some_and(|kind| kind.ends_with("Role"));
    manifests().into_iter().filter(is_role).collect()
}

/// Grants a token the roles, and nothing else.
pub(crate) fn grant(kubernetes: &mut Kubernetes, now: Timestamp) {
    let user = User::service_account("kube-system", "repair");
    for role in roles() {
        let (kind, metadata) = (role["kind"].as_str().unwrap(), role["metadata"].clone());
        let binding = json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": format!("{kind}Binding"),
            "roleRef": {"apiGroup": GROUP, "kind": kind, "name": metadata["name"]},
            "subjects": [{"kind": "User", "apiGroup": GROUP, "name": user.name}],
            "metadata": metadata,
        });
        kubernetes.create(role, now).unwrap();
        kubernetes.create(binding, now).unwrap();
    }
    kubernetes.add_token(TOKEN, user);
}

pub(crate) fn asked(method: &http::Method, path: &str) -> [String; 3] {
    let mut parts = path.trim_start_matches('/').split('/');
    let group = if parts.next() == Some("apis") { parts.next().unwrap() } else { "" };
    let parts: Vec<&str> = parts.skip(1).collect();
    let place = match parts[..] {
        ["namespaces", _, ref place @ ..] if !place.is_empty() => place,
        ref place => place,
    };
    let resource = match place {
        [resource, _, part] => format!("{resource}/{part}"),
        [resource, ..] => (*resource).to_owned(),
        [] => panic!("{path} is no resource"),
    };
    let verb = match method.as_str() {
        "GET" if place.len() == 1 => "list",
        "GET" => "get",
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" => "delete",
        other => panic!("{other} is not expected"),
    };
    [verb.to_owned(), group.to_owned(), resource]
}

fn granted() -> BTreeSet<[String; 3]> {
    let mut granted = BTreeSet::new();
    for rule in roles().iter().flat_map(|role| role["rules"].as_array().unwrap()) {
        let words =
            |name: &str| -> Vec<String> { serde_json::from_value(rule[name].clone()).unwrap() };
        for (group, resource) in words("apiGroups").iter().zip(words("resources")) {
            granted.extend(
                words("verbs").into_iter().map(|verb| [verb, group.clone(), resource.clone()]),
            );
        }
    }
    granted
}

/// Deletes a copy that a run of `finalizers` made in the same namespace.
async fn forget(harness: &Harness) {
    harness.shell.with(|world, now| {
        let copy = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "immutable": true, "data": {"object": "{}"},
            "metadata": {"name": "repair-other-0a", "namespace": NAMESPACE, "labels": {"mooring/run": "r"}},
        });
        world.kubernetes_mut().create(copy, now).unwrap();
    });
    store(harness.kube(), NAMESPACE, "other").forget_backups("r").await;
    let copies = harness.shell.with(|world, _| {
        let maps = world.kubernetes().objects("configmaps", Some(NAMESPACE));
        maps.filter(|map| map["metadata"]["labels"]["mooring/run"] == "r").count()
    });
    assert_eq!(copies, 0);
}

/// The group has the permissions of a repair, except deleting pods regardless of PDBs.
#[test]
fn operators_have_all_roles_except_deleting_pods() {
    let all = manifests();
    let bound: Vec<&str> = all
        .iter()
        .filter(|object| object["subjects"][0]["name"] == "mooring-operators")
        .map(|object| object["roleRef"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(bound, ["mooring-repair", "mooring-journal"]);
    let writes = |role: &Value| {
        role["rules"].as_array().unwrap().iter().any(|rule| {
            rule["resources"][0] == "configmaps" && rule["verbs"].as_array().unwrap().len() > 1
        })
    };
    let places: Vec<String> = roles()
        .iter()
        .filter(|role| writes(role))
        .map(|role| role["metadata"]["namespace"].to_string())
        .collect();
    assert_eq!(places, ["\"mooring-system\""]);
}

/// All tests fail at requests that the roles do not allow. This one makes every kind of request.
#[tokio::test(start_paused = true)]
async fn cluster_roles_grant_exactly_what_is_requested() {
    let (mut harness, _running) = Harness::new("wedged-system-pool");
    harness.shell.with(|world, now| {
        let key = Key { namespace: "kube-system".into(), name: "coredns-pdb".into() };
        let rigid = json!({"spec": {"minAvailable": 2}});
        world.kubernetes_mut().change("poddisruptionbudgets.policy", &key, &rigid, now).unwrap();
    });
    harness.shell.with(|world, now| {
        // Workloads that do not run elsewhere, of both kinds whose replicas are read.
        let labels = json!({"app": "ledger"});
        let pod = json!({"metadata": {"labels": labels}, "spec": {
            "containers": [{"name": "c", "image": "i"}],
            "tolerations": [{"operator": "Exists", "effect": "NoSchedule", "key": "CriticalAddonsOnly"}],
            "nodeSelector": {"agentpool": "system"},
        }});
        for kind in ["StatefulSet", "ReplicaSet"] {
            let workload = json!({"apiVersion": "apps/v1", "kind": kind,
                "metadata": {"name": "ledger", "namespace": "default"},
                "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod}});
            world.kubernetes_mut().create(workload, now).unwrap();
        }
    });
    tokio::time::sleep(std::time::Duration::from_mins(1)).await;
    harness.flags = Arc::new(|settings| {
        settings.add_override("pdb=DNS may be away for a moment").unwrap();
        settings.add_override("workloads=the ledger may be away for a while").unwrap();
    });
    harness.completes().await;
    forget(&harness).await;
    let pools = harness.operator().pools_with_journal().await.unwrap();
    assert_eq!(pools, ["system"], "copies are not counted");
    assert_eq!(*harness.asked.lock().unwrap(), granted());
}
