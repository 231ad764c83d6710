//! The steps of docs/ARO-HCP.md: their fields exist, and their commands run with exactly the roles that the page assigns.

use std::process::Command;

use serde_json::{Value, json};

use crate::common::result;
use crate::pipeline::{IDENTITY, Sim, scenario_with};
use mooring_testbed::command::write_executable;
use mooring_testbed::documents::{Page, pages, root};

/// Fields of a shell step in `pipeline.schema.v1`.
const FIELDS: [&str; 15] = [
    "name",
    "action",
    "command",
    "workingDir",
    "timeout",
    "aksCluster",
    "subnetName",
    "shellIdentity",
    "variables",
    "dryRun",
    "adoArtifacts",
    "dependsOn",
    "externalDependsOn",
    "automatedRetry",
    "omitFromServiceGroupCompletion",
];

/// Records role assignments.
const AZ: &str = r#"#!/bin/bash
case "$1 $2" in
"identity show") echo "$IDENTITY" ;;
"role assignment")
    while [ $# -gt 0 ]; do
        case $1 in
        --role) role=$2 ;;
        --scope) scope=$2 ;;
        --assignee-object-id) [ "$2" = "$IDENTITY" ] || exit 9 ;;
        esac
        shift
    done
    printf '%s\t%s\n' "$role" "$scope" >> assigned ;;
esac
"#;

/// Records applied objects, and who is an administrator.
const KUBECTL: &str = r#"#!/bin/bash
case "$*" in
"apply -f -") cat > applied ;;
"create clusterrolebinding "*" --clusterrole=cluster-admin --user=$IDENTITY") touch administrator ;;
*) exit 9 ;;
esac
"#;

/// Builds nothing: the binary of the test is the result.
const CARGO: &str = r#"#!/bin/bash
[ "$*" = "build --release --locked --package mooring --manifest-path ../mooring/Cargo.toml" ] || exit 9
mkdir -p ../mooring/target/release && ln -s "$BUILT" ../mooring/target/release/mooring
"#;

fn page() -> Page {
    pages().into_iter().find(|page| page.name == "docs/ARO-HCP.md").unwrap()
}

/// The build and the steps.
fn examples(page: &Page) -> (Value, Vec<Value>) {
    let blocks = page.blocks.iter().filter(|block| block.language == "yaml");
    let documents: Vec<Value> =
        blocks.map(|block| serde_saphyr::from_str(&block.lines.join("\n")).unwrap()).collect();
    let [build, steps] = &documents[..] else { panic!("{} examples", documents.len()) };
    (build["buildStep"].clone(), steps.as_array().unwrap().clone())
}

fn find<'a>(steps: &'a [Value], name: &str) -> &'a Value {
    steps.iter().find(|step| step["name"] == name).unwrap()
}

#[test]
fn steps_have_fields_of_the_schema_and_depend_on_each_other() {
    let (_, steps) = examples(&page());
    for step in steps.iter().filter(|step| step["action"] == "Shell") {
        let unknown = step.as_object().unwrap().keys().find(|key| !FIELDS.contains(&key.as_str()));
        assert_eq!(unknown, None, "{step}");
        assert!(step["command"].is_string() && step["shellIdentity"]["input"]["name"].is_string());
        let (number, unit) = step["timeout"].as_str().unwrap().split_at(2);
        assert!(number.parse::<u8>().is_ok() && unit == "m", "{step}");
        let dry_run = step["dryRun"]["variables"].as_array().into_iter().flatten();
        for variable in step["variables"].as_array().into_iter().flatten().chain(dry_run) {
            let sources = ["input", "configRef", "value"].map(|name| variable.get(name).is_some());
            assert_eq!(sources.iter().filter(|is_set| **is_set).count(), 1, "{variable}");
        }
    }
    let depends = |step: &str, on: &str| {
        let on_it = |one: &Value| one["step"] == on && one["resourceGroup"] == "management";
        find(&steps, step)["dependsOn"].as_array().unwrap().iter().any(on_it)
    };
    assert!(depends("repair-system-pool", "repair-permissions"));
    assert!(depends("repair-system-pool", "subscription-output"));
    assert!(depends("cluster", "repair-system-pool"));
    assert!(depends("remove-package-operator", "cluster"));
}

/// What the commands of the section *Roles* assign.
struct Roles {
    /// In Azure.
    assignments: Vec<Value>,
    /// In the cluster.
    objects: Vec<Value>,
}

/// Runs some of the blocks of commands in the section *Roles*.
fn roles(page: &Page, blocks: &[usize]) -> Roles {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path();
    write_executable(directory, "az", AZ);
    write_executable(directory, "kubectl", KUBECTL);
    std::os::unix::fs::symlink(root().join("packaging"), directory.join("packaging")).unwrap();
    let all: Vec<_> = page.blocks.iter().filter(|block| block.language == "console").collect();
    assert_eq!(all.len(), 3);
    let lines = blocks.iter().flat_map(|block| &all[*block].lines);
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix("$ ").unwrap()).collect();
    let script = format!("set -eu\n{}", lines.join("\n"));
    let status = Command::new("bash")
        .args(["-c", &script])
        .current_dir(directory)
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", directory.display()))
        .env("IDENTITY", IDENTITY)
        .env("GLOBAL_MSI_ID", "/subscriptions/s")
        .env("SUBSCRIPTION_ID", "00000000-0000-0000-0000-000000000001")
        .env("RESOURCE_GROUP", "rg-demo")
        .env("NETWORK_RESOURCE_GROUP", "rg-network")
        .status();
    assert!(status.unwrap().success(), "{script}");
    let read = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap_or_default();
    let assignments = read("assigned");
    let applied = read("applied");
    let objects = applied.split("\n---\n").filter(|object| !object.is_empty());
    let mut objects: Vec<Value> =
        objects.map(|object| serde_saphyr::from_str(object).unwrap()).collect();
    if directory.join("administrator").exists() {
        objects.extend(administrator());
    }
    Roles { assignments: assignments.lines().map(assignment).collect(), objects }
}

/// Returns the actions of a role at a scope: a role of this project, or the one of Azure that the page names.
fn assignment(line: &str) -> Value {
    let (name, scope) = line.split_once('\t').unwrap();
    if name == "Azure Kubernetes Service RBAC Cluster Admin" {
        let everything = ["Microsoft.ContainerService/managedClusters/*"];
        let credential =
            ["Microsoft.ContainerService/managedClusters/listClusterUserCredential/action"];
        return json!({"scope": scope, "actions": credential, "dataActions": everything});
    }
    let roles = std::fs::read_dir(root().join("packaging/roles")).unwrap();
    let roles = roles.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let mut roles = roles.filter_map(|text| serde_json::from_str::<Value>(&text).ok());
    let role = roles.find(|role| role["Name"] == name).unwrap();
    json!({"scope": scope, "actions": role["Actions"]})
}

/// The administrator's role, which every cluster has, and its binding to the identity.
fn administrator() -> [Value; 2] {
    let (group, api) = ("rbac.authorization.k8s.io", "rbac.authorization.k8s.io/v1");
    let name = json!({"name": "cluster-admin"});
    let reference = json!({"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"});
    [
        json!({
            "apiVersion": api, "kind": "ClusterRole", "metadata": name,
            "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
        }),
        json!({
            "apiVersion": api, "kind": "ClusterRoleBinding", "metadata": name,
            "roleRef": reference,
            "subjects": [{"apiGroup": group, "kind": "User", "name": IDENTITY}],
        }),
    ]
}

/// A place in which the steps run, after the build.
struct Rollout {
    folder: tempfile::TempDir,
    steps: Vec<Value>,
    sim: Sim,
}

impl Rollout {
    /// Runs the build step.
    fn build(page: &Page) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tools = folder.path().join("tools");
        for place in ["tools", "mooring", "dev-infrastructure"] {
            std::fs::create_dir(folder.path().join(place)).unwrap();
        }
        write_executable(&tools, "cargo", CARGO);
        let (build, steps) = examples(page);
        let arguments = build["args"].as_array().unwrap().iter();
        let status = Command::new(build["command"].as_str().unwrap())
            .args(arguments.map(|argument| argument.as_str().unwrap()))
            .current_dir(folder.path().join("dev-infrastructure"))
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", tools.display()))
            .env("BUILT", env!("CARGO_BIN_EXE_mooring"))
            .status();
        assert!(status.unwrap().success(), "{build}");
        Self { folder, steps, sim: Sim::start() }
    }

    /// Loads a scenario in which the identity has only these roles.
    fn load(&self, scenario: &str, roles: &Roles) {
        self.sim.load(&scenario_with(scenario, &roles.assignments, &roles.objects));
    }

    /// Runs a step with the variables that it names; returns exit code and output.
    fn run(&self, name: &str, is_dry_run: bool) -> (i32, String) {
        let step = find(&self.steps, name);
        let mut command = Command::new("timeout");
        command.args(["240", "bash", "-c", step["command"].as_str().unwrap()]);
        command.current_dir(self.folder.path().join("dev-infrastructure"));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.folder.path());
        let is_set = |name: &str| {
            name.starts_with("AZURE_")
                || step["variables"].as_array().into_iter().flatten().any(|one| one["name"] == name)
        };
        let environment = self.sim.running.environment();
        command.envs(environment.into_iter().filter(|(name, _)| is_set(name)));
        if step.get("aksCluster").is_some() {
            // As the runner does.
            command.env("KUBECONFIG", self.sim.kubeconfig());
        }
        if is_dry_run {
            let variable = &step["dryRun"]["variables"][0];
            command.env(variable["name"].as_str().unwrap(), variable["value"].as_str().unwrap());
        }
        let (code, out, err) = result(&command.output().unwrap());
        (code, format!("{out}{err}"))
    }

    fn run_well(&self, name: &str, is_dry_run: bool, expected: &str) {
        let (code, shown) = self.run(name, is_dry_run);
        assert!(code == 0 && shown.contains(expected), "{name}: {shown}");
    }
}

/// Blocks of commands: roles in Azure; in a cluster with Azure RBAC; in one with Kubernetes RBAC.
const CLUSTERS: [[usize; 2]; 2] = [[0, 1], [0, 2]];

#[test]
fn steps_run_with_the_roles_of_the_page() {
    let page = page();
    let rollout = Rollout::build(&page);
    for blocks in CLUSTERS {
        let roles = roles(&page, &blocks);
        rollout.load("wedged-system-pool", &roles);
        rollout.run_well("repair-system-pool", true, "delete-pool");
        rollout.run_well("repair-system-pool", false, "Pool system of demo was rebuilt in ");
        rollout.load("retired-operator", &roles);
        rollout.run_well("remove-package-operator", false, "removed");
    }
    // The repair needs no administrator.
    let mut least = roles(&page, &[0, 2]);
    least.objects.retain(|object| object["metadata"]["name"] != "cluster-admin");
    rollout.load("wedged-system-pool", &least);
    rollout.run_well("repair-system-pool", false, "Pool system of demo was rebuilt in ");
    rollout.load("retired-operator", &least);
    let (code, shown) = rollout.run("remove-package-operator", false);
    assert!(code != 0 && shown.contains("missing permission"), "{shown}");
    // Roles in Azure alone do not suffice.
    rollout.load("wedged-system-pool", &roles(&page, &[0]));
    let (code, shown) = rollout.run("repair-system-pool", false);
    assert!(code == 0 && shown.contains("nothing was changed"), "{shown}");
}
