//! `mooring repair --pipeline` with the built binary: what ends a step without a change, and with which exit code.
//!
//! The identity of the step has exactly the roles of `packaging/roles`, or all but one permission of them.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use mooring_simulator::azure::AKS_SERVER;
use mooring_simulator::scenario::Scenario;
use serde_json::{Value, json};
use tempfile::TempDir;

use mooring_testbed::documents::root;

const TIMEOUT: Duration = Duration::from_mins(4);
const SUBSCRIPTION: &str = "/subscriptions/00000000-0000-0000-0000-000000000001";
const CLUSTER: &str =
    "resourceGroups/rg-demo/providers/Microsoft.ContainerService/managedClusters/demo";
const NODES: &str = "resourceGroups/MC_rg-demo_demo_westeurope";
/// Object id of the identity.
pub(crate) const IDENTITY: &str = "00000000-0000-0000-0000-00000000000f";

/// Azure roles of a repair, with the scopes that their descriptions name.
const ROLES: [(&str, &str); 4] = [
    ("mooring-repair", CLUSTER),
    ("mooring-repair-nodes", NODES),
    ("mooring-repair-subscription", ""),
    ("mooring-repair-linked", "resourceGroups/rg-network"),
];

fn actions(role: &str) -> Vec<String> {
    let file = root().join("packaging/roles").join(role).with_extension("json");
    let role: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    serde_json::from_value(role["Actions"].clone()).unwrap()
}

/// A role of these actions at a scope below the subscription.
fn assignment(scope: &str, actions: &[String]) -> Value {
    let scope = format!("{SUBSCRIPTION}/{scope}");
    json!({"scope": scope.trim_end_matches('/'), "actions": actions})
}

/// The objects of the manifest, bound to the identity.
fn cluster_roles() -> Vec<Value> {
    let file = root().join("packaging/roles/mooring-repair-cluster.yaml");
    let text = std::fs::read_to_string(file).unwrap().replace("OBJECT-ID", IDENTITY);
    text.split("\n---\n").map(|object| serde_saphyr::from_str(object).unwrap()).collect()
}

/// A built-in scenario in a network of the user, in which the identity has only these roles.
pub(crate) fn scenario_with(name: &str, assignments: &[Value], objects: &[Value]) -> Value {
    let mut scenario: Value = serde_saphyr::from_str(Scenario::text_of(name).unwrap()).unwrap();
    scenario["ownNetwork"] = json!(true);
    scenario["assignments"] = json!(assignments);
    let own = scenario["objects"].as_array().into_iter().flatten();
    scenario["objects"] = own.chain(objects).cloned().collect();
    scenario
}

/// A scenario in which the identity has the roles of a repair.
fn scenario(name: &str) -> Value {
    let assignments: Vec<Value> =
        ROLES.iter().map(|(role, scope)| assignment(scope, &actions(role))).collect();
    scenario_with(name, &assignments, &cluster_roles())
}

fn without(name: &str, action: &str) -> Value {
    let mut scenario = scenario(name);
    scenario["denials"] = json!([{"action": action}]);
    scenario
}

/// The end of a step.
struct End {
    code: i32,
    out: String,
    err: String,
    seconds: f64,
}

impl End {
    fn warnings(&self) -> Vec<&str> {
        self.err.lines().filter(|line| line.starts_with("warning: ")).collect()
    }

    /// Fails unless nothing was changed, and one warning has this text.
    fn assert_left(&self, sim: &Sim, part: &str) {
        let warnings = self.warnings();
        assert_eq!((self.code, warnings.len()), (0, 1), "{part}: {}{}", self.out, self.err);
        assert!(warnings[0].contains(part), "{part}: {}", self.err);
        assert!(warnings[0].ends_with("; nothing was changed"), "{}", self.err);
        let mut reasons: Vec<&str> = warnings[0].split("; ").collect();
        let count = reasons.len();
        reasons.sort_unstable();
        reasons.dedup();
        assert_eq!(reasons.len(), count, "{}", self.err);
        assert_eq!(sim.changes(), Vec::<String>::new(), "{part}");
    }
}

/// A simulator that loads one scenario after another.
pub(crate) struct Sim {
    pub(crate) running: crate::common::Sim,
    folder: TempDir,
}

impl Sim {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let words = ["--kube-port", "0", "--speed", "600"];
        let running = crate::common::Sim::start(&folder.path().join("sim"), &words);
        Self { running, folder }
    }

    pub(crate) fn load(&self, scenario: &Value) {
        let answer = self.running.admin("POST /admin/scenario", &scenario.to_string());
        assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
    }

    /// Writes a kubeconfig of the identity.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        let of = |name: &str| self.running.variable(name);
        let form = format!(
            "grant_type=client_credentials&client_id={}&client_secret={}&scope={AKS_SERVER}/.default",
            of("AZURE_CLIENT_ID"),
            of("AZURE_CLIENT_SECRET")
        );
        let head = format!("POST /{}/oauth2/v2.0/token", of("AZURE_TENANT_ID"));
        let answer = self.running.admin(&head, &form);
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let answer: Value = serde_json::from_str(body).unwrap();
        let text = std::fs::read_to_string(of("KUBECONFIG")).unwrap();
        let mut config: Value = serde_saphyr::from_str(&text).unwrap();
        config["users"][0]["user"] = json!({"token": answer["access_token"]});
        let path = self.folder.path().join("kubeconfig-of-identity");
        std::fs::write(&path, config.to_string()).unwrap();
        path
    }

    fn step(&self, words: &[&str], variables: &[(&str, &str)]) -> End {
        let start = Instant::now();
        let child = crate::common::mooring()
            .args(["repair", "--pipeline"])
            .args(words)
            .env_clear()
            .envs(self.running.environment())
            .env("KUBECONFIG", "/nonexistent/kubeconfig")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (code, out, err) = crate::common::result(&crate::common::wait(child, TIMEOUT));
        End { code, out, err, seconds: start.elapsed().as_secs_f64() }
    }

    /// Returns what `doctor` says to the identity.
    fn doctor(&self, words: &[&str]) -> String {
        let mut command = crate::common::mooring();
        command.arg("doctor").args(words).env_clear().envs(self.running.environment());
        let output = command.env("KUBECONFIG", self.kubeconfig()).output().unwrap();
        crate::common::text(&output.stdout)
    }

    /// Returns the changes that Azure accepted since the scenario was loaded.
    fn changes(&self) -> Vec<String> {
        let trace = self.running.admin("GET /admin/trace", "");
        let is_change = |line: &&str| {
            ["PUT ", "PATCH ", "DELETE "].iter().any(|method| line.contains(method))
                || (line.contains("POST ") && line.contains("/abort"))
        };
        trace.lines().filter(is_change).map(str::to_owned).collect()
    }
}

/// Actions without which a run starts: no operation of a pool is running, and results of operations are read later.
const LATER: [&str; 3] = [
    "Microsoft.ContainerService/managedClusters/agentPools/abort/action",
    "Microsoft.ContainerService/locations/operations/read",
    "Microsoft.ContainerService/locations/operationresults/read",
];

#[test]
fn each_missing_permission_in_azure_ends_a_step_before_its_first_change() {
    let sim = Sim::start();
    let join = "Microsoft.Network/virtualNetworks/subnets/join/action".to_owned();
    let of_roles = ROLES[..3].iter().flat_map(|(role, _)| actions(role)).chain([join]);
    for action in of_roles {
        // Each read of a pattern.
        let reads = ["", "agentPools/", "operations/"]
            .map(|part| action.replace("/*/read", &format!("/{part}read")));
        let all: Vec<&str> = if action.contains('*') {
            reads[1..].iter().map(String::as_str).collect()
        } else {
            vec![&action]
        };
        for action in all {
            sim.load(&without("wedged-system-pool", action));
            let dry_run = if LATER.contains(&action) { &["--dry-run"][..] } else { &[] };
            let end = sim.step(&[&["--permission-timeout", "1s"][..], dry_run].concat(), &[]);
            println!("{:>5.1}s  exit {}  {action}: {:?}", end.seconds, end.code, end.warnings());
            if LATER.contains(&action) {
                assert!(end.out.contains("delete-pool"), "{action}: {}{}", end.out, end.err);
            } else {
                end.assert_left(&sim, action);
            }
        }
    }
}

/// Permissions without which a run does the same: they are for other commands and for old copies of objects.
const OTHER_USES: [&str; 3] = [
    "mooring-journal list configmaps",
    "mooring-journal delete configmaps",
    "mooring-repair-delete-pods delete pods",
];

#[test]
fn each_missing_permission_in_the_cluster_ends_a_step_before_its_first_change() {
    let sim = Sim::start();
    let objects = cluster_roles();
    for (index, role) in objects.iter().enumerate() {
        let role_name = role["metadata"]["name"].as_str().unwrap();
        for (place, rule) in role["rules"].as_array().into_iter().flatten().enumerate() {
            let verbs = rule["verbs"].as_array().unwrap();
            for verb in verbs {
                let mut scenario = scenario("wedged-system-pool");
                let others: Vec<&Value> = verbs.iter().filter(|one| *one != verb).collect();
                scenario["objects"][index]["rules"][place]["verbs"] = json!(others);
                sim.load(&scenario);
                let (verb, resource) = (verb.as_str().unwrap(), rule["resources"][0].as_str());
                let name = format!("{role_name} {verb} {}", resource.unwrap());
                let is_other = OTHER_USES.contains(&name.as_str());
                let words: &[&str] = if is_other { &["--dry-run"] } else { &[] };
                let end = sim.step(words, &[]);
                println!("{:>5.1}s  exit {}  {name}: {:?}", end.seconds, end.code, end.warnings());
                match role_name {
                    _ if is_other => assert!(end.out.contains("delete-pool"), "{}", end.err),
                    "mooring-journal" => {
                        assert_eq!((end.code, end.warnings().len()), (1, 0), "{}", end.err);
                        assert!(end.err.contains("the run cannot be recorded: "), "{}", end.err);
                        assert_eq!(sim.changes(), Vec::<String>::new(), "{name}");
                    }
                    _ => end.assert_left(&sim, ": "),
                }
            }
        }
    }
}

const LOG: &str = "Microsoft.Insights/eventtypes/values/read";

#[test]
fn healthy_pool_is_never_waited_for_and_names_what_was_not_read() {
    let sim = Sim::start();
    sim.load(&scenario("healthy"));
    let end = sim.step(&[], &[]);
    assert_eq!((end.code, end.warnings().len()), (0, 0), "{}", end.err);
    assert!(end.err.ends_with("\nnothing to do\n"), "{}", end.err);
    assert!(end.err.contains("✓ Pool system of demo is not wedged."), "{}", end.err);
    // With the default timeout: another check is already *no*.
    for action in [
        LOG,
        "Microsoft.Compute/virtualMachineScaleSets/read",
        "Microsoft.ContainerService/managedClusters/read",
        "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",
    ] {
        sim.load(&without("healthy", action));
        let end = sim.step(&[], &[]);
        println!("{:>5.1}s  healthy, without {action}", end.seconds);
        end.assert_left(&sim, action);
        assert!(!end.err.contains("waiting up to"), "{}", end.err);
        let end = sim.step(&["--fail-on-unknown"], &[]);
        assert_eq!((end.code, end.warnings().len()), (1, 0), "{}", end.err);
        assert!(end.err.contains(action), "{}", end.err);
    }
}

#[test]
fn permission_that_is_waited_for_is_named_at_once() {
    let sim = Sim::start();
    sim.load(&without("wedged-system-pool", LOG));
    let end = sim.step(&["--permission-timeout", "7s"], &[]);
    end.assert_left(&sim, LOG);
    let waiting =
        format!("waiting up to 7s for a permission: AuthorizationFailed: missing permission {LOG}");
    assert_eq!(end.err.matches(&waiting).count(), 1, "{}", end.err);
    // The same limit while it waits, and no second one.
    assert_eq!(end.err.matches("waiting up to").count(), 1, "{}", end.err);
    assert!((7.0..20.0).contains(&end.seconds), "{}", end.seconds);
}

#[test]
fn unknown_guard_leaves_the_pool_and_fails_only_on_request() {
    let sim = Sim::start();
    let mut few = scenario("wedged-system-pool");
    few["wedge"] = json!({"pool": "system", "failedWrites": 3, "unregisteredNodes": 1});
    sim.load(&few);
    // AKS retries every few minutes, so there are fewer.
    let threshold = [("NRP_FAIL_THRESHOLD", "100")];
    let end = sim.step(&[], &threshold);
    end.assert_left(&sim, "failing-writes could not be checked: ");
    assert!(end.warnings()[0].contains("(threshold 100, latest "), "{}", end.err);
    let end = sim.step(&["--fail-on-unknown"], &threshold);
    assert_eq!((end.code, end.warnings().len()), (1, 0), "{}", end.err);

    // The log fails instead of being denied.
    let mut failing = scenario("wedged-system-pool");
    failing["faults"] = json!([{
        "when": {"path": "*/eventtypes/*"}, "then": {"status": {"status": 400, "code": "BadRequest"}},
    }]);
    sim.load(&failing);
    sim.step(&[], &[]).assert_left(&sim, "failing-writes could not be checked: ");
}

#[test]
fn unreachable_api_of_the_cluster_leaves_the_pool() {
    let sim = Sim::start();
    for name in ["healthy", "wedged-system-pool"] {
        let mut scenario = scenario(name);
        scenario["faults"] = json!([{"when": {"service": "kubernetes"}, "then": "dropBefore"}]);
        sim.load(&scenario);
        sim.step(&[], &[]).assert_left(&sim, "missing-nodes could not be checked: ");
    }
}

#[test]
fn wrong_settings_and_credentials_are_errors() {
    let sim = Sim::start();
    sim.load(&scenario("healthy"));
    for (name, value, part) in [
        ("AZURE_CLIENT_SECRET", "wrong", "AADSTS7000215"),
        ("SUBSCRIPTION_ID", "99999999-9999-4999-8999-999999999999", "SubscriptionNotFound"),
        ("CLUSTER_NAME", "", "CLUSTER_NAME is not set"),
        ("NRP_FAIL_THRESHOLD", "x", "NRP_FAIL_THRESHOLD"),
    ] {
        let end = sim.step(&[], &[(name, value)]);
        assert_eq!((end.code, end.warnings().len()), (1, 0), "{name}: {}", end.err);
        assert!(end.err.contains(part), "{name}: {}", end.err);
    }
    // No token at all: `az` is not there.
    let alone = [("AZURE_CLIENT_SECRET", ""), ("AZURE_TOKEN_CREDENTIALS", "AzureCliCredential")];
    let end = sim.step(&[], &alone);
    assert_eq!((end.code, end.warnings().len()), (1, 0), "{}", end.err);
    assert!(end.err.contains("failed to get a token from Azure"), "{}", end.err);
}

#[test]
fn certificate_signs_in_only_where_it_is_registered() {
    let sim = Sim::start();
    let file = root().join("crates/arm/tests/fixtures/client-certificate.pem");
    let path = ("AZURE_CLIENT_CERTIFICATE_PATH", file.to_str().unwrap());
    let mut registered = scenario("healthy");
    registered["clientCertificate"] = json!(std::fs::read_to_string(&file).unwrap());
    sim.load(&registered);
    let end = sim.step(&[], &[("AZURE_CLIENT_SECRET", ""), path]);
    assert_eq!((end.code, end.warnings().len()), (0, 0), "{}", end.err);
    assert!(end.err.starts_with("✓ Pool system of demo is not wedged."), "{}", end.err);
    sim.load(&scenario("healthy"));
    let end = sim.step(&[], &[("AZURE_CLIENT_SECRET", ""), path]);
    assert_eq!(end.code, 1, "{}", end.err);
    assert!(end.err.contains("AADSTS700027"), "{}", end.err);
}

#[test]
fn run_needs_a_place_for_its_journal_before_the_first_change() {
    let sim = Sim::start();
    let load = |name: &str, may_create: bool| {
        let mut scenario = scenario(name);
        let objects = scenario["objects"].as_array_mut().unwrap();
        let is_journal = |object: &Value| {
            object["kind"] == "Namespace" || object["metadata"]["namespace"] == "mooring-system"
        };
        objects.retain(|object| !is_journal(object));
        if may_create {
            objects[0]["rules"].as_array_mut().unwrap().extend([
                json!({"apiGroups": [""], "resources": ["namespaces"], "verbs": ["create"]}),
                json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create", "update"]}),
                json!({"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]}),
            ]);
        }
        sim.load(&scenario);
    };
    let hint = "`kubectl apply -f packaging/roles/mooring-repair-cluster.yaml` creates namespace";
    load("healthy", false);
    let end = sim.step(&[], &[]);
    end.assert_left(&sim, "journal did not pass: ");
    assert!(end.warnings()[0].contains(hint), "{}", end.err);
    load("wedged-system-pool", false);
    for words in [&["--dry-run"][..], &[]] {
        let end = sim.step(words, &[]);
        assert_eq!((end.code, end.warnings().len()), (1, 0), "{}", end.err);
        assert!(end.err.contains("error: the run cannot be recorded: "), "{}", end.err);
        assert!(end.err.contains(hint), "{}", end.err);
        assert_eq!(sim.changes(), Vec::<String>::new());
    }
    let fix = "kubectl apply -f packaging/roles/mooring-repair-cluster.yaml\n";
    let doctor = sim.doctor(&[]);
    assert!(doctor.contains("! journals cannot be written in mooring-system: "), "{doctor}");
    assert!(doctor.contains(fix), "{doctor}");
    // A dry run creates nothing; a step with nothing to do does.
    load("healthy", true);
    // With permissions in all namespaces, but none to read this one, which does not exist.
    let doctor = sim.doctor(&["--namespace", "rollout"]);
    assert!(doctor.contains("! journals cannot be written in rollout: "), "{doctor}");
    // The manifest is for the other namespace.
    assert!(!doctor.contains(fix), "{doctor}");
    let exists = || sim.running.admin("GET /admin/cluster", "").contains("\"rollout\"");
    let place = ["--namespace", "rollout"];
    let end = sim.step(&[&place[..], &["--dry-run"]].concat(), &[]);
    assert!(end.code == 0 && end.warnings().is_empty() && !exists(), "{}", end.err);
    let end = sim.step(&place, &[]);
    assert!(end.code == 0 && end.warnings().is_empty() && exists(), "{}", end.err);
}

#[test]
fn numbers_of_the_environment_are_a_lower_bound() {
    let sim = Sim::start();
    let mut one = scenario("wedged-system-pool");
    one["wedge"] = json!({"pool": "system", "failedWrites": 1, "unregisteredNodes": 1});
    one["ingestionDelaySeconds"] = json!(3600);
    sim.load(&one);
    let numbers = [("NRP_FAIL_THRESHOLD", "10"), ("NRP_FAIL_WINDOW_MIN", "15")];
    let end = sim.step(&[], &numbers);
    let unreachable = "warning: 10 failed writes within 15 minutes cannot be reached: AKS retries about every 3 minutes, so at most 6 fail in that time";
    let [first, second] = end.warnings()[..] else { panic!("{}", end.err) };
    assert_eq!((end.code, first), (0, unreachable));
    assert!(second.starts_with("warning: failing-writes "), "{second}");
    assert!(
        end.err.contains(
            "without an IP address on VMs older than 10m (does not count: --signs writes)"
        ),
        "{}",
        end.err
    );
    assert_eq!(sim.changes(), Vec::<String>::new());
    let allowed = [&numbers[..], &[("MOORING_SIGNS", "direct")]].concat();
    for variables in [&allowed[..], &[]] {
        let end = sim.step(&["--dry-run"], variables);
        assert!(end.code == 0 && end.out.contains("delete-pool"), "{}{}", end.out, end.err);
    }
}
