//! Chores that judge the whole project.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::step::{Failed, command, root, run, say};
use crate::{browser, chart, oracles, packaging, python};

/// What `deny.toml` says. (Advisories need a database that is fetched, so they are left to others.)
pub(crate) fn audit() -> Result<(), Failed> {
    if run("cargo", &["deny", "--version"]).is_err() {
        run("cargo", &["install", "--locked", "cargo-deny"])?;
    }
    run("cargo", &["deny", "check", "licenses", "bans", "sources"])
}

/// Everything that the README calls the test command.
pub(crate) fn test() -> Result<(), Failed> {
    packaging::verify_unit()?;
    oracles::install()?;
    let mut notes = Vec::new();
    let assets = kube_assets(&mut notes)?;
    let clients = clients(&mut notes)?;
    browser::install(&mut notes);
    let summary = root().join("target/test-summary.txt");
    let _ = fs::remove_file(&summary);

    let mut tests = command("cargo");
    tests.args(["test", "--workspace", "--locked", "--no-fail-fast"]);
    // What listens on this machine is not to be asked through a proxy.
    for name in ["NO_PROXY", "no_proxy"] {
        let others = env::var(name).map(|others| format!(",{others}")).unwrap_or_default();
        tests.env(name, format!("127.0.0.1,localhost,::1{others}"));
    }
    tests.env("MOORING_TEST_SUMMARY", root().canonicalize()?.join("target/test-summary.txt"));
    if let Some(assets) = assets {
        tests.env("KUBEBUILDER_ASSETS", assets);
    }
    if let Some(clients) = clients {
        tests.env("MOORING_CLIENTS_ENVIRONMENT", clients);
        tests.env(chart::VARIABLE, chart::helm()?);
    }
    let status = tests.status()?;
    if !status.success() {
        return Err(Failed(format!("`cargo test` ended with {status}")));
    }
    say(&fs::read_to_string(&summary).unwrap_or_default());
    for note in notes {
        say(&format!("{note}\n"));
    }
    Ok(())
}

/// How much the model of the Kubernetes API bears; it prints its figures itself.
pub(crate) fn bench_kubernetes() -> Result<(), Failed> {
    let example = ["--package", "mooring-simulator", "--example", "kubernetes_scale"];
    run("cargo", &[&["run", "--locked", "--release", "--quiet"][..], &example].concat())
}

/// The folder of a real kube-apiserver: the one that is named, or one that is built here once. Without one the
/// tests go on, and the last lines say so.
fn kube_assets(notes: &mut Vec<String>) -> Result<Option<String>, Failed> {
    if let Some(named) = env::var_os("KUBEBUILDER_ASSETS").filter(|named| !named.is_empty()) {
        if !Path::new(&named).join("kube-apiserver").is_file() {
            let named = Path::new(&named).display();
            return Err(Failed(format!(
                "KUBEBUILDER_ASSETS is {named}, and there is no kube-apiserver in it"
            )));
        }
        return Ok(None);
    }
    if env::var_os("MOORING_SKIP_KUBE_ASSETS").is_some() {
        notes.push("NOT BUILT: kube-apiserver, since MOORING_SKIP_KUBE_ASSETS is set".to_owned());
        return Ok(None);
    }
    let script = root().join("scripts/kube-assets");
    let built = Command::new(script).stderr(Stdio::inherit()).output()?;
    if !built.status.success() {
        notes.push(
            "NOT BUILT: kube-apiserver; what scripts/kube-assets said stands above".to_owned(),
        );
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&built.stdout).trim().to_owned()))
}

/// The environment with kubectl and the Python client, or nothing where there is no Python.
fn clients(notes: &mut Vec<String>) -> Result<Option<std::path::PathBuf>, Failed> {
    if !python::is_there() {
        notes.push(
            "NOT RUN: kubectl, the Python client and Helm, since there is no python3 with venv"
                .to_owned(),
        );
        return Ok(None);
    }
    let requirements = Path::new("crates/simulator/tests/clients/requirements.txt");
    python::python_environment("clients", requirements).map(Some)
}
