//! The steps of docs/ARO-HCP.md: their fields exist, and their commands run with exactly the roles that the page assigns.

use std::path::Path;
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

/// Records applied objects.
const KUBECTL: &str = "#!/bin/bash\n[ \"$*\" = 'apply -f -' ] && cat > applied\n";

fn page() -> Page {
    pages().into_iter().find(|page| page.name == "docs/ARO-HCP.md").unwrap()
}

fn steps(page: &Page) -> Vec<Value> {
    let blocks = page.blocks.iter().filter(|block| block.language == "yaml");
    let documents: Vec<Value> =
        blocks.map(|block| serde_saphyr::from_str(&block.lines.join("\n")).unwrap()).collect();
    let [build, steps] = &documents[..] else { panic!("{} examples", documents.len()) };
    assert!(build["buildStep"]["args"][1].as_str().unwrap().contains("./scripts/mooring/mooring"));
    steps.as_array().unwrap().clone()
}

fn find<'a>(steps: &'a [Value], name: &str) -> &'a Value {
    steps.iter().find(|step| step["name"] == name).unwrap()
}

#[test]
fn steps_have_fields_of_the_schema_and_depend_on_each_other() {
    let steps = steps(&page());
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

/// Runs the commands of the section *Roles*. Returns a scenario with the roles that they assign.
fn assigned(page: &Page, directory: &Path) -> Value {
    write_executable(directory, "az", AZ);
    write_executable(directory, "kubectl", KUBECTL);
    std::os::unix::fs::symlink(root().join("packaging"), directory.join("packaging")).unwrap();
    let block = page.blocks.iter().find(|block| block.language == "console").unwrap();
    let lines: Vec<&str> =
        block.lines.iter().map(|line| line.strip_prefix("$ ").unwrap()).collect();
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
    let read = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap();
    let roles: Vec<Value> = std::fs::read_dir(root().join("packaging/roles"))
        .unwrap()
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .filter_map(|text| serde_json::from_str(&text).ok())
        .collect();
    let assignments: Vec<Value> = read("assigned")
        .lines()
        .map(|line| {
            let (name, scope) = line.split_once('\t').unwrap();
            let role = roles.iter().find(|role| role["Name"] == name).unwrap();
            json!({"scope": scope, "actions": role["Actions"]})
        })
        .collect();
    assert_eq!(assignments.len(), 4);
    let applied = read("applied");
    let objects: Vec<Value> =
        applied.split("\n---\n").map(|object| serde_saphyr::from_str(object).unwrap()).collect();
    scenario_with("wedged-system-pool", &assignments, &objects)
}

#[test]
fn commands_of_the_steps_run_with_the_roles_of_the_page() {
    let page = page();
    let steps = steps(&page);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let wedged = assigned(&page, path);
    std::fs::create_dir_all(path.join("scripts/mooring")).unwrap();
    let binary = path.join("scripts/mooring/mooring");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mooring"), binary).unwrap();
    let sim = Sim::start();
    let run = |name: &str, is_dry_run: bool| {
        let step = find(&steps, name);
        let mut command = Command::new("timeout");
        command.args(["240", "bash", "-c", step["command"].as_str().unwrap()]);
        command.current_dir(path).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", path);
        let of_runner = |name: &str| {
            name.starts_with("AZURE_") || (name == "KUBECONFIG" && step.get("aksCluster").is_some())
        };
        let environment = sim.running.environment();
        let is_set = |name: &str| {
            step["variables"].as_array().into_iter().flatten().any(|one| one["name"] == name)
        };
        command.envs(environment.into_iter().filter(|(name, _)| of_runner(name) || is_set(name)));
        if is_dry_run {
            let variable = &step["dryRun"]["variables"][0];
            command.env(variable["name"].as_str().unwrap(), variable["value"].as_str().unwrap());
        }
        let (code, out, err) = result(&command.output().unwrap());
        assert_eq!(code, 0, "{name}: {out}{err}");
        (out, err)
    };
    sim.load(&wedged);
    let (plan, _) = run("repair-system-pool", true);
    assert!(plan.contains("delete-pool"), "{plan}");
    let (report, err) = run("repair-system-pool", false);
    assert!(report.contains("Pool system of demo was rebuilt in "), "{report}{err}");
    sim.load(
        &serde_saphyr::from_str(
            mooring_simulator::scenario::Scenario::text_of("retired-operator").unwrap(),
        )
        .unwrap(),
    );
    let (out, err) = run("remove-package-operator", false);
    assert!(out.contains("removed") || err.contains("removed"), "{out}{err}");
}
