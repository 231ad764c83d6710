//! Locks, permissions and deny assignments with the built binary: `plan` reports them, `apply` stops before its first write.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

const TIMEOUT: Duration = Duration::from_mins(4);
const GROUPS: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups";
const JOIN: &str = "Microsoft.Network/virtualNetworks/subnets/join/action";

/// Simulator of a wedged pool in a VNet of the user.
struct Sim {
    running: crate::common::Sim,
    _folder: TempDir,
}

impl Sim {
    fn start(more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scenario.yaml");
        let wedged = "wedge: {pool: system, failedWrites: 40, unregisteredNodes: 1}\n\
                      clusterUpdate: {ageMinutes: 120}\nownNetwork: true\n";
        std::fs::write(&file, format!("{wedged}{more}\n")).unwrap();
        let words = ["--speed", "600", "--kube-port", "0", "--scenario", file.to_str().unwrap()];
        let running = crate::common::Sim::start(&folder.path().join("sim"), &words);
        Self { running, _folder: folder }
    }

    /// Returns the exit code, stdout and stderr of `mooring repair`.
    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let child = crate::common::mooring()
            .arg("repair")
            .args(words)
            .envs(self.running.environment())
            .env("KUBECONFIG", "/nonexistent/kubeconfig")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        crate::common::result(&crate::common::wait(child, TIMEOUT))
    }

    fn plan(&self) -> Value {
        let (code, out, err) = self.run(&["plan", "-o", "json"]);
        assert_eq!(code, 0, "{out}{err}");
        serde_json::from_str(&out).unwrap()
    }

    /// Returns the writes that Azure received.
    fn writes(&self) -> Vec<String> {
        let trace = self.running.admin("GET /admin/trace", "");
        let is_write = |line: &&str| {
            ["PUT ", "PATCH ", "DELETE "].iter().any(|method| line.contains(method))
                || (line.contains("POST ") && line.contains("/abort"))
        };
        assert!(trace.contains("GET /subscriptions/") && !trace.contains("not kept"), "{trace}");
        trace.lines().filter(is_write).map(str::to_owned).collect()
    }
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
        let sim = Sim::start(&scenario);
        let plan = sim.plan();
        let check = find_check(&plan, name);
        assert_eq!(check["state"], "failed", "{check}");
        let (code, table, err) = sim.run(&["plan"]);
        assert_eq!(code, 0, "{err}");
        let hash = plan["hash"].as_str().unwrap();
        let words = ["apply", "--yes", "--plan-hash", hash];
        let (code, _, err) = sim.run(&words);
        assert_eq!(code, 4, "{err}");
        assert!(err.contains(&format!("{name}: ")) && err.contains("\nhint: "), "{err}");
        for part in parts {
            assert!(check["evidence"].to_string().contains(part), "{part}: {check}");
            assert!(table.contains(part) && err.contains(part), "{part}: {table}{err}");
        }
        assert_eq!(sim.writes(), Vec::<String>::new(), "{name}");
        let (code, status, err) = sim.run(&["status"]);
        assert!(code == 0 && !format!("{status}{err}").contains("unfinished"), "{status}{err}");
    }
}

#[test]
fn unreadable_permissions_are_a_warning_in_the_plan_hash() {
    let sim = Sim::start("");
    let readable = sim.plan();
    assert_eq!(find_check(&readable, "permissions")["state"], "ok");
    let denial = r#"{"action": "Microsoft.Authorization/permissions/read"}"#;
    let answer = sim.running.admin("POST /admin/denials", denial);
    assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
    let apply = |plan: &Value| {
        let hash = plan["hash"].as_str().unwrap();
        sim.run(&["apply", "--poll", "1", "--yes", "--plan-hash", hash])
    };
    let (code, _, err) = apply(&readable);
    assert_eq!(code, 4, "the approved plan had no warning: {err}");
    assert_eq!(sim.writes(), Vec::<String>::new());

    let unreadable = sim.plan();
    let check = find_check(&unreadable, "permissions");
    assert_eq!(check["state"], "unknown", "{check}");
    let (code, _, err) = apply(&unreadable);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("warning: permissions: ") && err.contains("AuthorizationFailed"), "{err}");
    assert!(!sim.writes().is_empty());
}
