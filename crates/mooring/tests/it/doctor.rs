//! Tests of `mooring doctor` against the simulator.

use std::process::Command;

use crate::common::schema::assert_valid;
use crate::common::{Sim, text};
use serde_json::Value;

fn doctor(sim: &Sim) -> Command {
    let mut command = crate::common::mooring();
    command.env_clear().envs(sim.environment()).arg("doctor");
    command
}

#[test]
fn doctor_names_what_is_missing_and_its_fix() {
    let state = tempfile::tempdir().unwrap();
    let words = ["--scenario", "oras-missing", "--kube-port", "0"];
    let sim = Sim::start(&state.path().join("sim"), &words);
    let output = doctor(&sim).args(["-o", "json"]).output().unwrap();
    let shown: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    assert_valid(&shown);
    let check = |name: &str| -> Value {
        let checks = shown["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).cloned().unwrap_or_default()
    };
    for name in ["connection", "permissions", "journal", "sign-in", "vms", "installed"] {
        assert_eq!(check(name)["state"], "ok", "{name}: {shown:#}");
    }
    assert_eq!(check("running")["state"], "warning", "no controller: {shown:#}");
    assert!(check("running")["fix"].as_str().unwrap().starts_with("helm install mooring"));
    assert!(
        check("aks")["message"].as_str().unwrap().starts_with("demo in rg-demo, from the nodes")
    );

    let wrong = doctor(&sim).arg("azure").env("AZURE_CLIENT_SECRET", "wrong").output().unwrap();
    let shown = text(&wrong.stdout);
    assert_eq!(wrong.status.code(), Some(1), "{shown}");
    assert!(shown.contains("✗ not signed in") && shown.contains("client secret"), "{shown}");
    assert!(shown.contains("fix      az login"), "{shown}");

    let file = state.path().join("exec.yaml");
    let config = "current-context: c\nclusters: [{name: p, cluster: {server: 'https://127.0.0.1:1'}}]\ncontexts: [{name: c, context: {cluster: p, user: u}}]\nusers: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: /nowhere/kubelogin}}}]\n";
    std::fs::write(&file, config).unwrap();
    let mut missing = doctor(&sim);
    let missing =
        missing.args(["cluster", "--azure", "never"]).env("KUBECONFIG", &file).output().unwrap();
    let shown = text(&missing.stdout);
    assert_eq!(missing.status.code(), Some(1), "{shown}{}", text(&missing.stderr));
    assert!(shown.contains("the credential plugin `kubelogin` is not installed"), "{shown}");
    assert!(shown.contains("fix      `az aks install-cli` installs it"), "{shown}");
}
