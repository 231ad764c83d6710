//! Runs the `console` commands of the runbook, with their pipelines, against simulated clusters.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use mooring_testbed::{find_kubectl, require};
use tempfile::TempDir;

use crate::common::{Sim, mooring};
use mooring_testbed::command::write_executable;
use mooring_testbed::documents::{Block, pages};

/// A simulated cluster for the commands of one section.
struct Scenario {
    section: &'static str,
    name: &'static str,
    /// The name that confirmation prompts require.
    confirmation: &'static str,
}

const SCENARIOS: [Scenario; 3] = [
    Scenario { section: "Alerts", name: "oras-missing", confirmation: "" },
    Scenario {
        section: "Wedged node pools",
        name: "wedged-system-pool",
        confirmation: "demo/system\n",
    },
    Scenario {
        section: "Resources of an uninstalled operator",
        name: "retired-operator",
        confirmation: "demo/package-operator\n",
    },
];

/// Names that the runbook leaves to its reader.
const PLACEHOLDERS: [(&str, &str); 4] =
    [("NODEPOOL", "default"), ("NODECLAIM", "default-bad1"), ("CODE", "211"), ("NODE", "stray")];

/// Commands that exit with 1 because they find a problem.
const FINDINGS: [&str; 4] =
    ["mooring fleet", "mooring why default", "mooring why default-bad1", "mooring repair detect"];

/// Text in the output of each pipeline.
const PIPELINES: [(&str, &str); 7] = [
    ("kubectl describe nodeclaims", "    Reason:                CSEFailed\n"),
    ("kubectl get nodes", "stray\n"),
    ("kubectl -n mooring-system logs", "Connection refused"),
    ("mooring why default -o json | jq -c '.diagnoses[]", r#""cause":"OrasBinaryMissing""#),
    ("mooring why default -o json | jq -c '.nodes[].failure", r#""isConfirmed":true"#),
    ("mooring repair status", r#""vmSize""#),
    ("HASH=$(mooring repair plan", ""),
];

/// `kubectl logs` prints the logs of the test's controllers, after the real kubectl has parsed its arguments.
const KUBECTL: &str = r#"#!/bin/bash
for argument in "$@"; do
    if [ "$argument" = logs ]; then
        "$KUBECTL" "$@" --help > /dev/null && cat "$LOGS"/*.log
        exit
    fi
done
exec "$KUBECTL" "$@"
"#;

const STRAY_NODE: &str = r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "stray", "labels": {"karpenter.sh/nodepool": "default"}}}"#;

/// A simulator, and for the alerts two controllers: one that reports failures, and one that cannot reach the API server.
struct Cluster {
    directory: TempDir,
    sim: Sim,
    kubectl: PathBuf,
    controllers: Vec<Child>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for controller in &mut self.controllers {
            let _ = controller.kill();
            let _ = controller.wait();
        }
    }
}

impl Cluster {
    fn start(scenario: &Scenario, kubectl: &Path) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().join("sim");
        let speed = if scenario.section == "Alerts" { "1" } else { "600" };
        let arguments = ["--scenario", scenario.name, "--kube-port", "0", "--speed", speed];
        let sim = Sim::start(&state, &arguments);
        let (bin, logs) = (directory.path().join("bin"), directory.path().join("logs"));
        std::fs::create_dir(&bin).unwrap();
        std::fs::create_dir(&logs).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mooring"), bin.join("mooring")).unwrap();
        write_executable(&bin, "kubectl", KUBECTL);
        std::fs::write(directory.path().join("input"), scenario.confirmation).unwrap();
        let kubectl = kubectl.to_owned();
        let mut cluster = Self { directory, sim, kubectl, controllers: Vec::new() };
        if scenario.section == "Alerts" {
            cluster.run(&format!("echo '{STRAY_NODE}' | kubectl create -f -"));
            cluster.run(r"sed -E 's,(https://[^:]*):[0-9]+,\1:1,' sim/kubeconfig > unreachable");
            cluster.start_controller("sim/kubeconfig");
            cluster.start_controller("unreachable");
            cluster
                .run("until grep -q Connection.refused logs/unreachable.log; do sleep 0.1; done");
            cluster.run(
                "until kubectl get nodeclaims -o yaml | grep -q CSEFailed; do sleep 0.1; done",
            );
        }
        cluster
    }

    fn start_controller(&mut self, kubeconfig: &str) {
        let kubeconfig = self.directory.path().join(kubeconfig);
        let log = Path::new("logs").join(kubeconfig.file_name().unwrap()).with_extension("log");
        let log = std::fs::File::create(self.directory.path().join(log)).unwrap();
        let mut command = mooring();
        command.arg("controller").arg("--kubeconfig").arg(kubeconfig);
        command.args(["--metrics-address", "127.0.0.1:0", "--health-address", "127.0.0.1:0"]);
        command.args(["--page-address", "127.0.0.1:0"]);
        command.envs(self.sim.environment()).stdin(Stdio::null()).stdout(Stdio::null());
        self.controllers.push(command.stderr(log).spawn().unwrap());
    }

    /// Runs a script for at most ten minutes and requires that it succeeds.
    fn run(&self, script: &str) {
        let path = self.directory.path();
        let output = Command::new("timeout")
            .args(["--kill-after=5", "600", "bash", "-c", script])
            .current_dir(path)
            .envs(self.sim.environment())
            .env("PATH", format!("{}:/usr/bin:/bin", path.join("bin").display()))
            .env("HOME", path)
            .env("LOGS", path.join("logs"))
            .env("KUBECTL", &self.kubectl)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}\n{}: {errors}", output.status);
    }

    /// Runs the commands of a block in one shell.
    fn run_block(&self, block: &Block) {
        let commands: Vec<String> = block.lines.iter().map(|line| command(line)).collect();
        let mut script = String::new();
        for (index, line) in commands.iter().enumerate() {
            if line.starts_with("az ") {
                continue;
            }
            let files = format!("> {index}.out 2> {index}.err < input\necho $? > {index}.code\n");
            let line = attended(line);
            let _ = write!(script, "{{\n{line}\n}} {files}");
        }
        self.run(&script);
        for (index, line) in commands.iter().enumerate() {
            if line.starts_with("az ") {
                continue;
            }
            let read = |kind: &str| {
                let file = self.directory.path().join(format!("{index}.{kind}"));
                std::fs::read_to_string(file).unwrap()
            };
            check(line, &read("code"), &read("out"), &read("err"));
        }
    }
}

/// A command with values for the placeholders, without its comment.
fn command(line: &str) -> String {
    let line = line.strip_prefix("$ ").unwrap_or_else(|| panic!("{line:?} is not a command"));
    let line = line.split("  #").next().unwrap().trim_end();
    PLACEHOLDERS.iter().fold(line.to_owned(), |line, (placeholder, value)| {
        let words = line.split(' ').map(|word| if word == *placeholder { value } else { word });
        words.collect::<Vec<_>>().join(" ")
    })
}

/// Confirmations are typed in a terminal, and a command that watches is ended after some seconds.
fn attended(line: &str) -> String {
    if line.contains(" -w") {
        format!("timeout -s INT 5 {line} || [ $? = 124 ]")
    } else if [" apply", " resume"].iter().any(|word| line.contains(word))
        && !line.contains(" --yes")
    {
        format!("script -qec '{line}' /dev/null")
    } else {
        line.to_owned()
    }
}

fn check(line: &str, code: &str, output: &str, errors: &str) {
    let is_finding = FINDINGS.iter().any(|finding| {
        line.strip_prefix(finding).is_some_and(|rest| rest.is_empty() || rest.starts_with(" --"))
    });
    let expected = if is_finding { "1" } else { "0" };
    assert_eq!(code.trim(), expected, "{line}\n{output}{errors}");
    if line.contains(" | ") {
        let rows = PIPELINES.iter().filter(|(start, _)| line.starts_with(start));
        let rows: Vec<_> = rows.collect();
        let [(_, text)] = rows[..] else { panic!("PIPELINES has {} rows for {line}", rows.len()) };
        assert!(output.contains(text), "{line}\n{text:?} is not in {output:?}");
        assert!(!output.contains("null"), "{line}\nfield does not exist: {output}");
    }
}

#[test]
fn console_commands_of_the_runbook_succeed_in_the_simulator() {
    let Some(kubectl) = require(find_kubectl(), "kubectl") else { return };
    let jq = Path::new("/usr/bin/jq");
    if require(jq.exists().then_some(jq), "jq").is_none() {
        return;
    }
    let page = pages().into_iter().find(|page| page.name == "docs/RUNBOOK.md").unwrap();
    let blocks = || page.blocks.iter().filter(|block| block.language == "console");
    let count: usize = SCENARIOS
        .iter()
        .map(|scenario| {
            let blocks: Vec<&Block> =
                blocks().filter(|block| block.section == scenario.section).collect();
            // Only the alerts leave the cluster as it was.
            let mut shared = None;
            for block in &blocks {
                let cluster = shared.take().unwrap_or_else(|| Cluster::start(scenario, &kubectl));
                cluster.run_block(block);
                if scenario.section == "Alerts" {
                    shared = Some(cluster);
                }
            }
            blocks.len()
        })
        .sum();
    assert_eq!(count, blocks().count(), "a section with commands has no scenario");
}
