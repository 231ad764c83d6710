//! Runner of the real Helm.

use std::path::{Path, PathBuf};
use std::process::Command;

use mooring_testbed::require;
use serde_json::Value;

pub(crate) const NAMESPACE: &str = "mooring-system";
/// Golden files with their value files.
pub(crate) const CASES: [(&str, Option<&str>); 4] = [
    ("default", None),
    ("production", Some("production-values.yaml")),
    ("bare", Some("bare-values.yaml")),
    ("automatic", Some("automatic-values.yaml")),
];

pub(crate) fn chart() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../charts/mooring")
}

/// Runs Helm; returns its stdout, or its stderr if it failed, or `None` if Helm is not installed.
pub(crate) fn helm(args: &[&str]) -> Option<Result<String, String>> {
    let environment = require(std::env::var_os("MOORING_HELM_ENVIRONMENT"), "Helm")?;
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(Path::new(&environment).join("bin/helm"))
        .args(args)
        // Ignores the user's configuration of Helm.
        .env("HOME", home.path())
        .env_remove("KUBECONFIG")
        .current_dir(chart())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) })
}

/// Renders the chart with a value file and more arguments.
pub(crate) fn template(values: Option<&str>, more: &[&str]) -> Option<Result<String, String>> {
    let file = values.map(|values| format!("--values=ci/{values}"));
    let mut args = vec!["template", "mooring", ".", "--namespace", NAMESPACE];
    args.extend(file.as_deref());
    args.extend(more);
    helm(&args)
}

/// Parses the objects of a rendered chart.
pub(crate) fn objects(rendered: &str) -> Vec<Value> {
    let parts = rendered.split("\n---\n").map(|part| part.trim_start_matches("---\n"));
    let objects = parts.map(|part| serde_saphyr::from_str::<Value>(part).unwrap());
    objects.filter(|object| !object.is_null()).collect()
}

pub(crate) fn find_kind<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
    objects.iter().find(|object| object["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
}
