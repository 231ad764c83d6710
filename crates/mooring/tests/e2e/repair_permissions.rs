//! Locks, permissions and deny assignments with the built binary: `plan` reports them, `apply` stops before its first write.

use std::io::Write as _;

use serde_json::Value;

use crate::common::Lab;

const GROUPS: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups";
const JOIN: &str = "Microsoft.Network/virtualNetworks/subnets/join/action";

/// Starts a wedged pool in a VNet of the user.
fn start(more: &str) -> Lab {
    let mut file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
    let wedged = "wedge: {pool: system, failedWrites: 40, unregisteredNodes: 1}\n\
                  clusterUpdate: {ageMinutes: 120}\nownNetwork: true\n";
    file.write_all(format!("{wedged}{more}\n").as_bytes()).unwrap();
    Lab::fast(file.path().to_str().unwrap())
}

fn plan(lab: &Lab) -> Value {
    let (code, plan) = lab.json(&["repair", "plan"]);
    assert_eq!(code, 0, "{plan}");
    plan
}

/// Returns a check of a plan.
fn find_check(plan: &Value, name: &str) -> Value {
    let checks = plan["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap().clone()
}

#[test]
fn missing_permission_is_in_the_plan_and_blocks_apply() {
    let subnet = format!(
        "{GROUPS}/rg-network/providers/Microsoft.Network/virtualNetworks/hub-vnet/subnets/aks-subnet"
    );
    let lock = format!(
        "locks: [{{scope: '{GROUPS}/MC_rg-demo_demo_westeurope', name: keep, level: CanNotDelete}}]"
    );
    let missing = format!("denials: [{{action: '{JOIN}'}}]");
    let denied = format!(
        "denyAssignments: [{{name: network stack, scope: '{GROUPS}/rg-network', actions: ['*'], notActions: ['*/read']}}]"
    );
    for (scenario, name, parts) in [
        (lock, "locks", ["lock keep (CanNotDelete)", "delete-pool"]),
        (missing, "permissions", [JOIN, &subnet]),
        (denied, "deny-assignments", ["network stack", JOIN]),
    ] {
        let lab = start(&scenario);
        let plan = plan(&lab);
        let check = find_check(&plan, name);
        assert_eq!(check["state"], "failed", "{check}");
        let (code, table, err) = lab.run(&["repair", "plan"]);
        assert_eq!(code, 0, "{err}");
        let hash = plan["hash"].as_str().unwrap();
        let words = ["repair", "apply", "--yes", "--plan-hash", hash];
        let (code, _, err) = lab.run(&words);
        assert_eq!(code, 4, "{err}");
        assert!(err.contains(&format!("{name}: ")) && err.contains("\nhint: "), "{err}");
        for part in parts {
            assert!(check["evidence"].to_string().contains(part), "{part}: {check}");
            assert!(table.contains(part) && err.contains(part), "{part}: {table}{err}");
        }
        assert_eq!(lab.writes(), Vec::<String>::new(), "{name}");
        let (code, status, err) = lab.run(&["repair", "status"]);
        assert!(code == 0 && !format!("{status}{err}").contains("unfinished"), "{status}{err}");
    }
}

#[test]
fn unreadable_permissions_are_a_warning_in_the_plan_hash() {
    let lab = start("");
    let readable = plan(&lab);
    assert_eq!(find_check(&readable, "permissions")["state"], "ok");
    let denial = r#"{"action": "Microsoft.Authorization/permissions/read"}"#;
    let answer = lab.sim.admin("POST /admin/denials", denial);
    assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
    let apply = |plan: &Value| {
        let hash = plan["hash"].as_str().unwrap();
        lab.run(&["repair", "apply", "--poll", "1", "--yes", "--plan-hash", hash])
    };
    let (code, _, err) = apply(&readable);
    assert_eq!(code, 4, "the approved plan had no warning: {err}");
    assert_eq!(lab.writes(), Vec::<String>::new());

    let unreadable = plan(&lab);
    let check = find_check(&unreadable, "permissions");
    assert_eq!(check["state"], "unknown", "{check}");
    let (code, _, err) = apply(&unreadable);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("warning: permissions: ") && err.contains("AuthorizationFailed"), "{err}");
    assert!(!lab.writes().is_empty());
}
