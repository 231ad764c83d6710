//! The name of the link decides which program runs.

use std::process::{Command, Output};

use mooring_testbed::command::text;
use mooring_testbed::schema::validate;
use serde_json::Value;
use tempfile::TempDir;

struct Programs(TempDir);

impl Programs {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        crate::link_programs(directory.path());
        Self(directory)
    }

    fn run(&self, name: &str, words: &[&str]) -> Output {
        Command::new(self.0.path().join(name)).args(words).output().unwrap()
    }
}

#[test]
fn link_of_the_agent_runs_the_agent() {
    let programs = Programs::new();
    let root = tempfile::tempdir().unwrap();
    let root_flag = ["--root", root.path().to_str().unwrap()];
    let run = |words: &[&str]| programs.run("aks-node-controller", &[&root_flag, words].concat());
    assert_eq!(text(&run(&["version"]).stdout).trim(), mooring_agent::VERSION);
    assert_eq!(run(&["provision", "--nosuch"]).status.code(), Some(1));
    assert!(root.path().join("var/log/azure/aks/provision.json").exists());
}

#[test]
fn document_of_a_preflight_fits_the_schema_that_mooring_prints() {
    let programs = Programs::new();
    let image = tempfile::tempdir().unwrap();
    let root = image.path().to_str().unwrap();
    let words = ["--root", root, "preflight", "--stage", "image", "-o", "json"];
    let shown = programs.run("aks-node-controller", &words);
    let document: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let fatal = |finding: &Value| finding["verdict"] == "fatal" && finding["code"].is_i64();
    assert!(document["findings"].as_array().unwrap().iter().any(fatal), "{document}");
    let schema = programs.run("mooring", &["schema", document["schema"].as_str().unwrap()]);
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    validate(&document, &schema).unwrap();
}
