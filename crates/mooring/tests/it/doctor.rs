//! Tests of `mooring doctor` against the simulator.

use crate::common::Lab;
use crate::common::schema::assert_valid;
use serde_json::Value;

#[test]
fn doctor_names_what_is_missing_and_its_fix() {
    let lab = Lab::start("oras-missing", &[]);
    let (_, shown) = lab.json(&["doctor"]);
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

    let (code, shown, _) = lab.run_with(&[("AZURE_CLIENT_SECRET", "wrong")], &["doctor", "azure"]);
    assert_eq!(code, 1, "{shown}");
    assert!(shown.contains("✗ not signed in") && shown.contains("client secret"), "{shown}");
    assert!(shown.contains("fix      az login"), "{shown}");

    let file = lab.path("exec.yaml");
    let config = "current-context: c\nclusters: [{name: p, cluster: {server: 'https://127.0.0.1:1'}}]\ncontexts: [{name: c, context: {cluster: p, user: u}}]\nusers: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: /nowhere/kubelogin}}}]\n";
    std::fs::write(&file, config).unwrap();
    let words = ["doctor", "cluster", "--azure", "never"];
    let (code, shown, err) = lab.run_with(&[("KUBECONFIG", &file)], &words);
    assert_eq!(code, 1, "{shown}{err}");
    assert!(shown.contains("the credential plugin `kubelogin` is not installed"), "{shown}");
    assert!(shown.contains("fix      `az aks install-cli` installs it"), "{shown}");
}
