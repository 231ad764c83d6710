//! Tools that single tests need: installed where they are missing and can be.
//!
//! Without one its tests are skipped, and the summary gives the reason. A CI run (`CI` is set) fails instead, unless the tool's
//! variable is set: a machine that cannot install a tool must not pass for one that ran its tests.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::step::{Failed, need, root};
use crate::{browser, chart, oracles, python};

use super::report::Report;

type Variables = Vec<(String, OsString)>;

struct Tool {
    name: &'static str,
    /// Setting this variable runs the tests without the tool.
    opt_out: &'static str,
    /// Returns the variables by which tests find the tool.
    install: fn() -> Result<Variables, Failed>,
}

const TOOLS: [Tool; 6] = [
    Tool {
        name: "systemd-analyze",
        opt_out: "MOORING_SKIP_SYSTEMD",
        install: || need("systemd-analyze", "systemd").map(|()| Vec::new()),
    },
    Tool {
        name: "Azure's Python clients",
        opt_out: "MOORING_SKIP_PYTHON",
        install: || oracles::install().map(|()| Vec::new()),
    },
    Tool { name: "kube-apiserver", opt_out: "MOORING_SKIP_KUBE_ASSETS", install: kube_apiserver },
    Tool {
        name: "kubectl and Kubernetes' Python client",
        opt_out: "MOORING_SKIP_PYTHON",
        install: kubernetes_clients,
    },
    Tool {
        name: "Helm",
        opt_out: "MOORING_SKIP_PYTHON",
        install: || Ok(vec![(chart::VARIABLE.to_owned(), chart::helm()?.into())]),
    },
    Tool {
        name: "Chromium",
        opt_out: "MOORING_SKIP_BROWSER",
        install: || browser::install().map(|()| Vec::new()),
    },
];

/// Installs all tools. Returns the variables by which tests find them.
pub(super) fn install(report: &mut Report) -> Result<Variables, Failed> {
    check_named_assets()?;
    install_from(&TOOLS, is_set, report)
}

fn install_from(
    tools: &[Tool],
    is_set: fn(&str) -> bool,
    report: &mut Report,
) -> Result<Variables, Failed> {
    let mut variables = Vec::new();
    let mut missing = Vec::new();
    for tool in tools {
        let (name, opt_out) = (tool.name, tool.opt_out);
        if is_set(opt_out) {
            report.note(format!("{name} is not installed: {opt_out} is set"));
            continue;
        }
        match (tool.install)() {
            Ok(more) => variables.extend(more),
            Err(Failed(why)) => {
                report.note(format!("{name} could not be installed: {why}"));
                missing.push(format!(
                    "{name} could not be installed: {why}\nhint: install it, or set {opt_out}=1 to skip its tests"
                ));
            }
        }
    }
    if is_set("CI") && !missing.is_empty() {
        return Err(Failed(missing.join("\n")));
    }
    Ok(variables)
}

/// Returns whether a variable is set to something other than a no.
fn is_set(name: &str) -> bool {
    env::var(name).is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}

fn named_assets() -> Option<OsString> {
    env::var_os("KUBEBUILDER_ASSETS").filter(|named| !named.is_empty())
}

/// A directory that is named and has no server is a mistake, not a missing tool.
fn check_named_assets() -> Result<(), Failed> {
    match named_assets() {
        Some(named) if !Path::new(&named).join("kube-apiserver").is_file() => Err(Failed(format!(
            "KUBEBUILDER_ASSETS is {}, and there is no kube-apiserver in it",
            Path::new(&named).display()
        ))),
        _ => Ok(()),
    }
}

/// The named server, or one that is built once per machine.
fn kube_apiserver() -> Result<Variables, Failed> {
    if named_assets().is_some() {
        return Ok(Vec::new());
    }
    let script = root().join("scripts/kube-assets");
    let built = Command::new(script).stderr(Stdio::inherit()).output()?;
    if !built.status.success() {
        return Err(Failed("scripts/kube-assets failed; its messages are above".to_owned()));
    }
    let directory = String::from_utf8_lossy(&built.stdout).trim().to_owned();
    Ok(vec![("KUBEBUILDER_ASSETS".to_owned(), directory.into())])
}

fn kubernetes_clients() -> Result<Variables, Failed> {
    let requirements = Path::new("crates/simulator/tests/clients/requirements.txt");
    let environment = python::python_environment("clients", requirements)?;
    Ok(vec![("MOORING_CLIENTS_ENVIRONMENT".to_owned(), environment.into())])
}

#[cfg(test)]
mod tests {
    use super::{Report, Tool, install_from};
    use crate::step::Failed;

    const TOOLS: [Tool; 2] = [
        Tool {
            name: "sextant",
            opt_out: "SKIP_SEXTANT",
            install: || Ok(vec![("SEXTANT".to_owned(), "/usr/bin/sextant".into())]),
        },
        Tool {
            name: "astrolabe",
            opt_out: "SKIP_ASTROLABE",
            install: || Err(Failed("no network".to_owned())),
        },
    ];

    #[test]
    fn missing_tool_is_a_note_in_the_summary() {
        let mut report = Report::default();
        let variables = install_from(&TOOLS, |_| false, &mut report).unwrap();
        assert_eq!(variables, [("SEXTANT".to_owned(), "/usr/bin/sextant".into())]);
        let summary = report.summary();
        assert!(summary.contains("astrolabe could not be installed: no network"), "{summary}");
    }

    #[test]
    fn missing_tool_fails_a_ci_run() {
        let failed = install_from(&TOOLS, |name| name == "CI", &mut Report::default());
        let message = failed.unwrap_err().0;
        assert!(message.contains("astrolabe") && !message.contains("sextant"), "{message}");
        assert!(message.contains("hint: install it, or set SKIP_ASTROLABE=1"), "{message}");
    }

    #[test]
    fn opted_out_tool_does_not_fail_a_ci_run() {
        let mut report = Report::default();
        let set = |name: &str| ["CI", "SKIP_ASTROLABE"].contains(&name);
        install_from(&TOOLS, set, &mut report).unwrap();
        let summary = report.summary();
        assert!(summary.contains("astrolabe is not installed: SKIP_ASTROLABE is set"), "{summary}");
    }
}
