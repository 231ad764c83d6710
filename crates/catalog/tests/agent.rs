//! The node's agent does not link the catalog.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

/// Reads the dependencies of all packages from the lock file, which the agent's build must match.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let lock = include_str!("../../../Cargo.lock");
    let packages = lock.split("[[package]]").skip(1);
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages {
        let quoted = |line: &str| line.split('"').nth(1).map(str::to_owned);
        let name = package.lines().find(|line| line.starts_with("name = ")).and_then(quoted);
        let listed = package.lines().filter(|line| line.starts_with(" \"")).filter_map(quoted);
        let listed = listed.map(|one| one.split(' ').next().unwrap().to_owned());
        all.entry(name.unwrap()).or_default().extend(listed);
    }
    all
}

fn linked(name: &str) -> BTreeSet<String> {
    let all = dependencies();
    let mut linked = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    while let Some(next) = open.pop() {
        if linked.insert(next.clone()) {
            open.extend(all[&next].iter().cloned());
        }
    }
    linked
}

#[test]
fn agent_links_the_decoder_but_not_the_catalog() {
    let agent = linked("mooring-agent");
    assert!(agent.contains("mooring-diagnosis"), "{agent:?}");
    assert!(!agent.contains("mooring-catalog"), "{agent:?}");
    assert!(linked("mooring-controller").contains("mooring-catalog"));
}
