//! Tests of `--context`: which cluster a command reads or changes.

use std::path::Path;
use std::process::Output;

use crate::common::{Sim, text};
use serde_json::Value;

const NAMES: [&str; 4] =
    ["SUBSCRIPTION_ID", "RESOURCE_GROUP", "CLUSTER_NAME", "AZURE_NODE_RESOURCE_GROUP"];

/// Runs a command that no variable names a cluster for, except `cluster`.
fn run(sim: &Sim, home: &Path, cluster: Option<&str>, args: &[&str]) -> Output {
    let mut command = crate::common::mooring();
    command.env_clear().envs(sim.environment()).env("HOME", home).args(args);
    for name in NAMES {
        command.env_remove(name);
    }
    command.envs(cluster.map(|cluster| ("CLUSTER_NAME", cluster)));
    command.output().unwrap()
}

#[test]
fn change_is_refused_if_two_clusters_are_named() {
    let state = tempfile::tempdir().unwrap();
    let words = ["--scenario", "wedged-system-pool", "--kube-port", "0", "--speed", "600"];
    let sim = Sim::start(&state.path().join("sim"), &words);
    let home = state.path();
    let detected = run(&sim, home, None, &["repair", "detect", "--context", "demo", "-o", "json"]);
    let shown: Value = serde_json::from_slice(&detected.stdout)
        .unwrap_or_else(|_| panic!("{}", text(&detected.stderr)));
    assert_eq!((detected.status.code(), &shown["verdict"]), (Some(1), &"confirmed".into()));
    assert!(shown["cluster"]["id"].as_str().unwrap().ends_with("/managedClusters/demo"), "{shown}");

    let hash = format!("20991115T113000Z.{}", "a".repeat(64));
    let apply = ["repair", "apply", "--context", "demo", "--yes", "--plan-hash", &hash];
    let finalizers = ["finalizers", "apply", "--context", "demo", "--yes", "--plan-hash", &hash];
    for words in [&apply[..], &finalizers] {
        let refused = run(&sim, home, Some("other"), words);
        let shown = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(4), "{words:?} {shown}");
        assert!(shown.contains("two clusters: ") && shown.contains("cluster other"), "{shown}");
    }
    let unknown = run(&sim, home, None, &["repair", "detect", "--context", "dmo"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("did you mean `demo`?"), "{}", text(&unknown.stderr));

    let directory = home.join(".config/mooring");
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("config.yaml");
    std::fs::write(&file, "contexts: {demo: {protected: true, namespace: ops}}\n").unwrap();
    for words in [&apply[..], &finalizers] {
        let refused = run(&sim, home, None, words);
        let shown = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(4), "{words:?} {shown}");
        assert!(shown.contains("context demo is protected"), "{shown}");
    }
    let status = run(&sim, home, None, &["status", "-o", "json"]);
    let shown: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(shown["controller"]["namespace"], "ops");
    std::fs::write(&file, "contexts: {demo: {protect: true}}\n").unwrap();
    assert_eq!(run(&sim, home, None, &["status"]).status.code(), Some(2));
}
