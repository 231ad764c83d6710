//! `-o json` and `-o yaml` of every command fit their published schemas.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::common::schema::assert_valid;
use crate::common::{Lab, alone, end};

/// Arguments, and the schema of the document.
type Case<'a> = (&'a [&'a str], &'a str);

const WITHOUT_CLUSTER: &[Case<'_>] = &[
    (&["explain", "211"], "mooring.explain/v1"),
    (&["explain", "OrasBinaryMissing"], "mooring.explain/v1"),
    (&["explain", "quota exceeded: 0 of 8 cores left"], "mooring.explain/v1"),
    (&["explain", "/dev/null"], "mooring.explain/v1"),
    (&["explain", "0"], "mooring.explain/v1"),
    (&["codes", "list", "--all"], "mooring.codes/v1"),
    (&["codes", "show", "211"], "mooring.codes/v1"),
    (&["codes", "search", "oras"], "mooring.codes/v1"),
    (&["version"], "mooring.version/v1"),
];

const FAILED_NODES: &[Case<'_>] = &[
    (&["status"], "mooring.status/v1"),
    (&["fleet"], "mooring.fleet/v1"),
    (&["why"], "mooring.why/v1"),
    (&["why", "default"], "mooring.why/v1"),
    (&["why", "default-bad1"], "mooring.why/v1"),
    (&["why", "default-good1"], "mooring.why/v1"),
    (&["doctor"], "mooring.doctor/v1"),
    (&["trace", "default-bad1"], "mooring.trace/v1"),
    (&["bundle", "default-bad1", "--out", "OUT"], "mooring.bundle/v1"),
];

const WEDGED_POOL: &[Case<'_>] = &[
    (&["repair", "detect"], "mooring.repair.detection/v1"),
    (&["repair", "plan"], "mooring.repair.plan/v1"),
    (&["repair", "status"], "mooring.repair.run/v1"),
    (&["repair", "apply", "--dry-run"], "mooring.repair.plan/v1"),
];

const UNINSTALLED_OPERATOR: &[Case<'_>] = &[
    (&["finalizers", "plan"], "mooring.finalizers.plan/v1"),
    (&["finalizers", "status"], "mooring.finalizers.run/v1"),
    (&["finalizers", "apply", "--dry-run"], "mooring.finalizers.plan/v1"),
];

fn check(home: &Path, lab: Option<&Lab>, cases: &[Case<'_>]) {
    let file = home.join("node.tar.gz");
    let run = |words: &[&str], format: &str| {
        let mut words = words.to_vec();
        if let Some(word) = words.iter_mut().find(|word| **word == "OUT") {
            *word = file.to_str().unwrap();
        }
        words.extend(["-o", format]);
        let ended = lab.map_or_else(|| end(&mut alone(home, &words)), |lab| lab.run(&words));
        let (code, out, err) = ended;
        assert!(matches!(code, 0 | 1), "{code} {out}{err}");
        assert!(!out.is_empty(), "{err}");
        out
    };
    for (words, schema) in cases {
        let text = run(words, "json");
        assert!(text.starts_with("{\n  \"schema\": \"mooring."), "{words:?}: {text}");
        let json: Value = serde_json::from_str(&text).unwrap();
        let yaml: Value = serde_saphyr::from_str(&run(words, "yaml")).unwrap();
        for document in [&json, &yaml] {
            assert_eq!(document["schema"], *schema, "{words:?}");
            let envelope = ["generatedAt", "cluster", "sources"];
            let has_all = envelope.iter().all(|member| document.get(member).is_some());
            assert!(has_all, "{words:?}: {document}");
            assert_valid(document);
        }
        let names = |document: &Value| document.as_object().unwrap().keys().cloned().collect();
        let (json, yaml): (BTreeSet<String>, BTreeSet<String>) = (names(&json), names(&yaml));
        assert_eq!(json, yaml, "{words:?}");
    }
}

fn simulate(scenario: &str, cases: &[Case<'_>]) {
    let lab = Lab::start(scenario, &[]);
    check(lab.home.path(), Some(&lab), cases);
}

#[test]
fn documents_without_a_cluster_fit_their_schemas() {
    check(tempfile::tempdir().unwrap().path(), None, WITHOUT_CLUSTER);
}

#[test]
fn documents_of_an_uninstalled_operator_fit_their_schemas() {
    simulate("retired-operator", UNINSTALLED_OPERATOR);
}

/// Returns the name of every command with its help.
fn helps() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/help");
    let help = |file: std::io::Result<std::fs::DirEntry>| {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let name = name.strip_prefix("mooring").unwrap().trim_start_matches('-').to_owned();
        (name, std::fs::read_to_string(&path).unwrap())
    };
    std::fs::read_dir(folder).unwrap().map(help).collect()
}

#[test]
fn commands_with_a_document_have_all_other_formats() {
    let mut count = 0;
    for (name, help) in helps().into_iter().filter(|(_, help)| help.contains("- json: ")) {
        for format in ["table", "wide", "yaml", "markdown", "name"] {
            assert!(help.contains(&format!("- {format}: ")), "{name} has no {format}");
        }
        count += 1;
    }
    assert!(count > 15, "{count}");
}

/// The help of a command shows its formats.
#[test]
fn every_command_with_a_document_is_checked() {
    // These print the document of `apply`, which `e2e` checks.
    const OTHERS: [&str; 3] = ["repair-resume", "repair-abort", "finalizers-resume"];
    let cases = [WITHOUT_CLUSTER, FAILED_NODES, WEDGED_POOL, UNINSTALLED_OPERATOR].concat();
    for (name, help) in helps() {
        if !help.contains("- json: ") || OTHERS.contains(&name.as_str()) {
            continue;
        }
        let is_checked =
            |case: &Case<'_>| format!("{}-", case.0.join("-")).starts_with(&format!("{name}-"));
        assert!(cases.iter().any(is_checked), "{name}");
    }
}

mod slow {
    use super::*;

    #[test]
    fn documents_of_a_wedged_pool_fit_their_schemas() {
        simulate("wedged-system-pool", WEDGED_POOL);
    }

    #[test]
    fn documents_of_failed_nodes_fit_their_schemas() {
        simulate("oras-missing", FAILED_NODES);
    }
}
