//! What a public project keeps: workflows that name every commit and permission, and reasons for duplicate crates.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::root;

/// The workflows, and the one that users copy.
fn workflows() -> Vec<(String, Value)> {
    let found = fs::read_dir(root().join(".github/workflows")).unwrap();
    let mut files: Vec<PathBuf> = found.map(|entry| entry.unwrap().path()).collect();
    files.push(root().join("packaging/pipelines/github-actions.yaml"));
    let read = |file: &PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        (text.clone(), serde_saphyr::from_str(&text).unwrap())
    };
    files.iter().map(read).collect()
}

fn jobs(workflow: &Value) -> impl Iterator<Item = (&String, &Value)> {
    workflow["jobs"].as_object().unwrap().iter()
}

fn steps(workflow: &Value) -> impl Iterator<Item = &Value> {
    jobs(workflow).flat_map(|(_, job)| job["steps"].as_array().unwrap())
}

#[test]
fn every_action_is_pinned_by_its_commit() {
    let mut pinned = BTreeMap::new();
    for (text, workflow) in workflows() {
        for action in steps(&workflow).filter_map(|step| step["uses"].as_str()) {
            let (name, commit) = action.split_once('@').unwrap();
            let is_commit = commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit());
            assert!(is_commit, "{action}");
            let line = text.lines().find(|line| line.contains(action)).unwrap();
            assert!(line.contains(" # v"), "{line}: the tag belongs into a comment");
            let first = pinned.entry(name.to_owned()).or_insert_with(|| commit.to_owned());
            assert_eq!(first, commit, "{name} has two commits");
        }
    }
    assert!(!pinned.is_empty());
}

#[test]
fn ci_runs_the_tests_as_the_readme_does() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let readme = read("README.md");
    let block = readme.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let commands: Vec<&str> = block.lines().collect();
    assert_eq!(commands.len(), 2, "the first screen has two commands: {block}");
    assert!(read(".ci/run").lines().any(|line| line == commands[1]), "{block}");
}

#[test]
fn every_job_names_its_permissions_and_its_end() {
    for (_, workflow) in workflows() {
        assert_eq!(workflow["permissions"], serde_json::json!({}), "{}", workflow["name"]);
        for (name, job) in jobs(&workflow) {
            assert!(job["permissions"].is_object(), "{name}: permissions");
            assert!(job["timeout-minutes"].is_u64(), "{name}: timeout-minutes");
        }
    }
}

#[test]
fn every_chore_of_a_workflow_exists() {
    let help = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let mut found = 0;
    for (_, workflow) in workflows() {
        let scripts = steps(&workflow).filter_map(|step| step["run"].as_str());
        let lines = scripts.flat_map(str::lines);
        for line in lines.filter_map(|line| line.trim().strip_prefix("cargo xtask ")) {
            let mut words = line.split_whitespace();
            let chore = words.next().unwrap();
            assert!(help.contains(&format!("\n  {chore} ")), "{line}");
            for flag in words.filter(|word| word.starts_with("--")) {
                assert!(help.contains(flag), "{line}: {flag}");
            }
            found += 1;
        }
    }
    assert!(found > 0);
}

/// Returns crates with more than one version in the lock file, each without its newest.
fn older_duplicates() -> BTreeSet<String> {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let lock: toml::Table = toml::from_str(&lock).unwrap();
    let number = |version: &str| -> Vec<u64> {
        version.split(['.', '-', '+']).map(|part| part.parse().unwrap_or_default()).collect()
    };
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in lock["package"].as_array().unwrap() {
        let (name, version) = (package["name"].as_str(), package["version"].as_str());
        versions.entry(name.unwrap()).or_default().push(version.unwrap());
    }
    let mut older = BTreeSet::new();
    for (name, mut of) in versions {
        of.sort_by_key(|version| number(version));
        of.pop();
        older.extend(of.iter().map(|version| format!("{name}@{version}")));
    }
    older
}

#[test]
fn every_duplicate_crate_has_a_reason() {
    let deny = fs::read_to_string(root().join("deny.toml")).unwrap();
    let deny: toml::Table = toml::from_str(&deny).unwrap();
    assert_eq!(deny["bans"]["multiple-versions"].as_str(), Some("deny"));
    let mut skipped = BTreeSet::new();
    for skip in deny["bans"]["skip"].as_array().unwrap() {
        assert!(skip["reason"].as_str().is_some_and(|reason| reason.len() > 5), "{skip:?}");
        skipped.insert(skip["crate"].as_str().unwrap().to_owned());
    }
    let found = older_duplicates();
    let hint = "avoid the second version, or write into deny.toml which crate keeps it";
    let new: Vec<_> = found.difference(&skipped).collect();
    assert!(new.is_empty(), "Cargo.lock has older versions of {new:?}\nhint: {hint}");
    let gone: Vec<_> = skipped.difference(&found).collect();
    assert!(gone.is_empty(), "no longer in Cargo.lock: {gone:?}\nhint: remove it from deny.toml");
}

#[test]
fn toolchain_is_the_oldest_supported_one() {
    let read = |name: &str| -> toml::Table {
        toml::from_str(&fs::read_to_string(root().join(name)).unwrap()).unwrap()
    };
    let (toolchain, workspace) = (read("rust-toolchain.toml"), read("Cargo.toml"));
    let supported = workspace["workspace"]["package"]["rust-version"].as_str().unwrap();
    let pinned = toolchain["toolchain"]["channel"].as_str().unwrap();
    assert_eq!(pinned, format!("{supported}.0"));
}
