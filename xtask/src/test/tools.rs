//! Tools that single tests need: installed where they are missing and can be.
//!
//! Without a tool that cannot be installed, as for a user who is not root, the other tests run, and the summary lists what was
//! skipped and how to get it. In a strict run it is a failure: a run that skips tests must not pass for one that ran them.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::step::{Failed, fetch, is_installed, need, output, place, root};
use crate::{axe, chart, python, release, site};

use super::packaging;
use super::report::Report;

type Variables = Vec<(String, OsString)>;

struct Tool {
    name: &'static str,
    /// Returns the variables by which tests find the tool.
    install: fn() -> Result<Variables, Failed>,
}

const TOOLS: [Tool; 15] = [
    Tool {
        name: "zizmor",
        install: || Ok(vec![(packaging::ZIZMOR.to_owned(), packaging::zizmor()?.into())]),
    },
    Tool {
        name: "systemd-analyze",
        install: || need("systemd-analyze", "systemd").map(|()| Vec::new()),
    },
    Tool { name: "shellcheck", install: || need("shellcheck", "shellcheck").map(|()| Vec::new()) },
    Tool { name: "rpm", install: || need("rpmbuild", "rpm").map(|()| Vec::new()) },
    Tool { name: "runc", install: || need("runc", "runc").map(|()| Vec::new()) },
    Tool { name: "groff", install: || need("groff", "groff-base").map(|()| Vec::new()) },
    Tool { name: "jq", install: || need("jq", "jq").map(|()| Vec::new()) },
    Tool {
        name: "Azure's Python clients",
        install: || python::install_oracles().map(|()| Vec::new()),
    },
    Tool { name: "kube-apiserver", install: kube_apiserver },
    Tool { name: "kubectl", install: kubernetes_clients },
    Tool { name: "Helm", install: helm },
    Tool { name: "Prometheus and Alertmanager", install: prometheus },
    Tool { name: "Chromium", install: || install_browser().map(|()| Vec::new()) },
    Tool {
        name: "mdBook",
        install: || Ok(vec![("MOORING_SITE".to_owned(), site::build(None)?.into())]),
    },
    Tool {
        name: "axe-core",
        install: || Ok(vec![(axe::VARIABLE.to_owned(), axe::install()?.into())]),
    },
];

/// Installs all tools. Returns the variables by which tests find them.
pub(super) fn install(is_strict: bool, report: &mut Report) -> Result<Variables, Failed> {
    check_named_assets()?;
    install_from(&TOOLS, is_strict, report)
}

fn install_from(tools: &[Tool], is_strict: bool, report: &mut Report) -> Result<Variables, Failed> {
    let mut variables = Vec::new();
    let mut missing = Vec::new();
    for Tool { name, install } in tools {
        match install() {
            Ok(more) => variables.extend(more),
            Err(Failed(why)) => missing.push(format!("{name} could not be installed: {why}")),
        }
    }
    if is_strict && !missing.is_empty() {
        return Err(Failed(missing.join("\n")));
    }
    for tool in missing {
        report.note(tool);
    }
    Ok(variables)
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

/// Helm, and the chart as a registry would return it.
fn helm() -> Result<Variables, Failed> {
    let chart = root().canonicalize()?.join("target/chart.tgz");
    release::chart::write_stored(&chart)?;
    let environment = chart::helm()?.into();
    Ok(vec![(chart::VARIABLE.to_owned(), environment), ("MOORING_CHART".to_owned(), chart.into())])
}

fn kubernetes_clients() -> Result<Variables, Failed> {
    let requirements = Path::new("lab/simulator/tests/external/clients/requirements.txt");
    let environment = python::python_environment("clients", requirements)?;
    Ok(vec![("MOORING_CLIENTS_ENVIRONMENT".to_owned(), environment.into())])
}

/// Templates that Debian's Alertmanager reads at its start.
const TEMPLATES: [&str; 2] = ["default.tmpl", "email.tmpl"];

/// Unpacks Debian's packages: installed, they would start as services. `apt-get` verifies what it downloads.
fn prometheus() -> Result<Variables, Failed> {
    let directory = root().join("target/tools/prometheus");
    let programs = directory.join("usr/bin");
    if !programs.join("prometheus-alertmanager").is_file() {
        fs::create_dir_all(&directory)?;
        let download = || {
            let mut apt_get = Command::new("apt-get");
            apt_get.args(["-qq", "download", "prometheus", "prometheus-alertmanager"]);
            output(apt_get.current_dir(&directory))
        };
        // An outdated package list may name files that no longer exist.
        if download().is_err() {
            fetch("apt-get", &["-qq", "update"])?;
            download()?;
        }
        for file in fs::read_dir(&directory)? {
            let file = file?.path();
            if file.extension().is_some_and(|extension| extension == "deb") {
                output(Command::new("dpkg-deb").arg("--extract").arg(&file).arg(&directory))?;
                fs::remove_file(file)?;
            }
        }
    }
    let share = "usr/share/prometheus/alertmanager";
    for template in TEMPLATES {
        let wanted = Path::new("/").join(share).join(template);
        if !wanted.is_file() {
            place(&directory.join(share).join(template), &wanted, 0o644)?;
        }
    }
    Ok(vec![("MOORING_PROMETHEUS".to_owned(), programs.canonicalize()?.into())])
}

/// Names of the browser for the tests that open HTML pages.
const PROGRAMS: [&str; 2] = ["chromium", "chromium-browser"];

/// Installs Debian's Chromium if it is missing and can be installed.
fn install_browser() -> Result<(), Failed> {
    if PROGRAMS.into_iter().any(is_installed) { Ok(()) } else { need("chromium", "chromium") }
}

#[cfg(test)]
mod tests {
    use super::{Report, Tool, install_from};
    use crate::step::Failed;

    const TOOLS: [Tool; 2] = [
        Tool {
            name: "sextant",
            install: || Ok(vec![("SEXTANT".to_owned(), "/usr/bin/sextant".into())]),
        },
        Tool { name: "astrolabe", install: || Err(Failed("no network".to_owned())) },
    ];

    #[test]
    fn missing_tool_fails_a_strict_run() {
        let failed = install_from(&TOOLS, true, &mut Report::default());
        let message = failed.unwrap_err().0;
        assert!(message.contains("astrolabe could not be installed: no network"), "{message}");
        assert!(!message.contains("sextant"), "{message}");
    }

    #[test]
    fn missing_tool_is_a_note_in_the_summary() {
        let mut report = Report::default();
        let variables = install_from(&TOOLS, false, &mut report).unwrap();
        assert_eq!(variables, [("SEXTANT".to_owned(), "/usr/bin/sextant".into())]);
        let summary = report.summary();
        assert!(summary.contains("astrolabe could not be installed: no network"), "{summary}");
    }
}
