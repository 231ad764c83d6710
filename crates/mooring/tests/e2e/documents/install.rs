//! Runs the commands of docs/INSTALL.md in the order of the page. Helm, kubectl and mooring are real, Azure and the cluster
//! simulated; `az`, `cargo` and `skopeo`, which need a subscription, minutes or a registry, are recorded.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use mooring_testbed::command::write_executable;
use mooring_testbed::documents::{pages, root};
use mooring_testbed::{find_kubectl, require};

use crate::common::{Sim, mooring};

/// Names that the page leaves to its reader. Longer names come first.
const NAMES: [(&str, &str); 6] = [
    ("MC_RG_CLUSTER_REGION", "MC_rg-demo_demo_westeurope"),
    ("SUBSCRIPTION-ID", "00000000-0000-0000-0000-000000000001"),
    ("REGISTRY", "registry.example"),
    ("CLUSTER", "demo"),
    ("VNET", "vnet"),
    ("RG", "rg-demo"),
];

/// Records what cannot run here: each call as a line.
const RECORDED: &str = r#"#!/bin/bash
echo "$(basename "$0") $*" >> "$HOME/calls"
[ "$2" != show ] || echo 00000000-0000-0000-0000-00000000000c
"#;

/// Commands that are recorded, with their options.
const KNOWN: [(&str, &[&str]); 12] = [
    ("az deployment group create", &["--resource-group", "--template-file", "--parameters"]),
    ("az identity show", &["--name", "--resource-group", "--query", "-o"]),
    ("az identity delete", &["--name", "--resource-group"]),
    ("az network nsg create", &["--resource-group", "--name"]),
    (
        "az network nsg rule create",
        &[
            "--resource-group",
            "--nsg-name",
            "--name",
            "--priority",
            "--direction",
            "--access",
            "--protocol",
            "--destination-address-prefixes",
        ],
    ),
    ("az network nsg delete", &["--resource-group", "--name"]),
    (
        "az network vnet subnet create",
        &[
            "--resource-group",
            "--vnet-name",
            "--name",
            "--address-prefixes",
            "--network-security-group",
        ],
    ),
    ("az network vnet subnet delete", &["--resource-group", "--vnet-name", "--name"]),
    ("cargo install", &["--path", "--locked"]),
    ("cargo xtask dist", &[]),
    ("cargo xtask docs", &[]),
    ("skopeo copy", &["--all"]),
];

/// The reader's machine, with the repository as its directory.
struct Machine {
    home: tempfile::TempDir,
    sim: Sim,
    /// In place of the pods, which the model does not run.
    controller: Option<Child>,
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.stop_controller();
    }
}

impl Machine {
    fn new(helm: &Path) -> Self {
        let home = tempfile::tempdir().unwrap();
        let bin = home.path().join("bin");
        for folder in ["bin", ".local/bin", ".local/share/bash-completion/completions"] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        for program in ["az", "cargo", "skopeo"] {
            write_executable(&bin, program, RECORDED);
        }
        let links = [("mooring", Path::new(env!("CARGO_BIN_EXE_mooring"))), ("helm", helm)];
        for (name, program) in links {
            std::os::unix::fs::symlink(program, bin.join(name)).unwrap();
        }
        let words = ["--scenario", "oras-missing", "--kube-port", "0"];
        let sim = Sim::start(&home.path().join("sim"), &words);
        Self { home, sim, controller: None }
    }

    fn start_controller(&mut self) {
        let mut command = mooring();
        command.args(["controller", "--metrics-address", "127.0.0.1:0", "--page-address"]);
        command.args(["127.0.0.1:0", "--health-address", "127.0.0.1:0"]);
        command.envs(self.sim.environment()).stdin(Stdio::null());
        let started = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.controller = Some(started.unwrap());
        self.run("until kubectl get nodeclaims -o yaml | grep -q CSEFailed; do sleep 0.1; done");
    }

    fn stop_controller(&mut self) {
        if let Some(mut controller) = self.controller.take() {
            let _ = controller.kill();
            let _ = controller.wait();
        }
    }

    /// Runs a script that must succeed, and returns what it printed.
    fn run(&self, script: &str) -> String {
        let bin = self.home.path().join("bin");
        let output = Command::new("timeout")
            .args(["--kill-after=5", "300", "bash", "-euo", "pipefail", "-c", script])
            .current_dir(root())
            .envs(self.sim.environment())
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env("HOME", self.home.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let (code, out, err) = crate::common::result(&output);
        assert_eq!(code, 0, "{script}\n{out}{err}");
        out
    }
}

/// Fails unless the command is known, with these options, and the files that it names exist.
fn assert_known(call: &str) {
    let known = KNOWN.iter().find(|(command, _)| {
        call.strip_prefix(command).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    let (_, options) = known.unwrap_or_else(|| panic!("{call} is not known"));
    for word in call.split(' ') {
        assert!(!word.starts_with('-') || options.contains(&word), "{word} in {call}");
        let is_path = ["packaging/", "crates/"].iter().any(|start| word.starts_with(start));
        assert!(!is_path || root().join(word).exists(), "{word} in {call}");
    }
    let image =
        concat!("oci-archive:target/dist/mooring-image-", env!("CARGO_PKG_VERSION"), ".oci.tar:");
    assert!(!call.starts_with("skopeo") || call.contains(image), "{call}");
}

#[test]
fn commands_of_the_install_page_succeed_in_the_simulator() {
    let helm = require(std::env::var_os("MOORING_HELM_ENVIRONMENT"), "Helm");
    let (Some(helm), Some(_)) = (helm, require(find_kubectl(), "kubectl")) else { return };
    let mut machine = Machine::new(&Path::new(&helm).join("bin/helm"));
    machine.start_controller();
    let page = pages().into_iter().find(|page| page.name == "docs/INSTALL.md").unwrap();
    let mut printed = String::new();
    for block in page.blocks.iter().filter(|block| block.language == "console") {
        let lines = block.lines.iter().map(|line| line.strip_prefix("$ ").unwrap_or(line));
        let script = lines.collect::<Vec<_>>().join("\n");
        let script = NAMES.iter().fold(script, |text, (name, value)| text.replace(name, value));
        let watched = "timeout -s INT 3 mooring status --watch || [ $? = 124 ]";
        if script.contains("helm uninstall") {
            machine.stop_controller();
        }
        printed += &machine.run(&script.replace("mooring status --watch", watched));
    }
    assert!(printed.contains("   CSEFailed\n"), "{printed}");
    assert!(printed.contains("Pool mooring-proof of demo: "), "{printed}");
    let calls = std::fs::read_to_string(machine.home.path().join("calls")).unwrap();
    calls.lines().for_each(assert_known);
    let kinds = "deployments,services,configmaps,secrets,leases,roles,rolebindings";
    let left = machine.run(&format!("kubectl get {kinds} -n mooring-system -o name"));
    assert_eq!(left, "");
}
