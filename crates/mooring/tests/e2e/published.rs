//! JSON and YAML documents of runs against their published schemas.

use std::process::Stdio;

use serde_json::Value;

use crate::common::{Lab, Sim, mooring, result, schema};

/// Validates the JSON and the YAML of a command, which have the same members.
fn document(lab: &Lab, words: &[&str], id: &str) -> (i32, Value) {
    let (code, json) = lab.json(words);
    assert_eq!(json["schema"], id, "{words:?}");
    schema::assert_valid(&json);
    if words[1] != "apply" {
        let (_, out, _) = lab.run(&[words, &["-o", "yaml"]].concat());
        let yaml: Value = serde_saphyr::from_str(&out).unwrap();
        schema::assert_valid(&yaml);
    }
    (code, json)
}

#[test]
fn repair_documents_fit_their_schemas() {
    let lab = Lab::fast("wedged-system-pool");
    let (code, detection) = document(&lab, &["repair", "detect"], "mooring.repair.detection/v1");
    assert_eq!((code, &detection["verdict"]), (1, &Value::from("confirmed")));
    assert!(detection["cluster"]["uid"].is_string() && detection["cluster"]["id"].is_string());
    assert!(detection["sources"].as_array().unwrap().iter().all(|one| one["state"] == "read"));
    let (_, plan) = document(&lab, &["repair", "plan"], "mooring.repair.plan/v1");
    let (code, status) = document(&lab, &["repair", "status"], "mooring.repair.run/v1");
    assert_eq!((code, &status["runs"]), (0, &Value::Array(Vec::new())));
    let hash = plan["hash"].as_str().unwrap();
    let apply = ["repair", "apply", "--poll", "1", "--yes", "--plan-hash", hash];
    let (code, applied) = document(&lab, &apply, "mooring.repair.run/v1");
    assert_eq!((code, &applied["runs"][0]["state"]), (0, &Value::from("repaired")));
    let (code, status) = document(&lab, &["repair", "status", "--all"], "mooring.repair.run/v1");
    assert_eq!((code, &status["runs"][0]["state"]), (0, &Value::from("repaired")));
    assert_eq!(status["runs"][0]["steps"].as_array().unwrap().len(), 16);
    assert!(status["runs"][0]["poolBody"]["properties"].is_object());
}

#[test]
fn finalizers_documents_fit_their_schemas() {
    let lab = Lab::start("retired-operator", &[]);
    let (code, plan) = document(&lab, &["finalizers", "plan"], "mooring.finalizers.plan/v1");
    assert_eq!(code, 0);
    let (code, status) = document(&lab, &["finalizers", "status"], "mooring.finalizers.run/v1");
    assert_eq!((code, &status["runs"]), (0, &Value::Array(Vec::new())));
    let hash = plan["hash"].as_str().unwrap();
    let apply = ["finalizers", "apply", "--yes", "--plan-hash", hash];
    let (code, applied) = document(&lab, &apply, "mooring.finalizers.run/v1");
    assert_eq!((code, &applied["runs"][0]["state"]), (0, &Value::from("removed")));
    document(&lab, &["finalizers", "status"], "mooring.finalizers.run/v1");
    let (_, nothing) = document(&lab, &apply, "mooring.finalizers.run/v1");
    assert_eq!(nothing["result"], "clean");
}

/// `--yes` with only the current context of the default kubeconfig changes nothing.
#[test]
fn current_context_is_not_enough_without_a_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let sim = Sim::start(folder.path(), &["--kube-port", "0", "--scenario", "retired-operator"]);
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".kube")).unwrap();
    let config = sim.variable("KUBECONFIG");
    std::fs::copy(&config, home.path().join(".kube/config")).unwrap();
    let finalizers = |words: &[&str]| {
        let mut command = mooring();
        command.arg("finalizers").args(words).env_clear().env("HOME", home.path());
        result(&command.stdin(Stdio::null()).output().unwrap())
    };
    let (code, out, err) = finalizers(&["plan", "-o", "json"]);
    assert_eq!(code, 0, "reading goes by the context: {err}");
    let plan: Value = serde_json::from_str(&out).unwrap();
    let apply = ["apply", "--yes", "--plan-hash", plan["hash"].as_str().unwrap()];
    let (code, _, err) = finalizers(&apply);
    assert!(code == 4 && err.contains("requires a named cluster"), "{code} {err}");
    let (_, again, _) = finalizers(&["plan", "-o", "json"]);
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again["targets"], plan["targets"], "nothing was changed");
    let (code, _, err) = finalizers(&[&apply[..], &["--kubeconfig", &config]].concat());
    assert_eq!(code, 0, "{err}");
}
