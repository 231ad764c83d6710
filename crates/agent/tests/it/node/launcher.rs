//! The launcher that a boothook or the unit starts, with an agent that writes down how it was called.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::support::{end_of, eventually, write_program};

const LAUNCHER: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/aks-node-controller-launcher.sh");

/// Records its arguments, and fails according to `FAIL`.
const AGENT: &str = "#!/bin/bash\necho \"$(basename \"$0\") $*\" >> \"$CALLS\"\n[ \"$1\" = \"${FAIL:-}\" ] && exit 9\nexit ${AGENT_CODE:-0}\n";

struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap() };
        machine.program("agent", AGENT);
        machine
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, content: &str) -> &Self {
        fs::write(self.at(name), content).unwrap();
        self
    }

    fn program(&self, name: &str, content: &str) {
        write_program(&self.at(name), content, 0o755);
    }

    fn command(&self) -> Command {
        let mut command = Command::new("/bin/bash");
        command
            .arg(LAUNCHER)
            .env("BIN_PATH", self.at("agent"))
            .env("HOTFIX_JSON", self.at("hotfix.json"))
            .env("CONFIG_PATH", self.at("config.json"))
            .env("NBC_CMD_PATH", self.at("nbc.sh"))
            .env("FEATURES_PATH", self.at("features"))
            .env("HOSTNAME_PATH", self.at("no-hostname"))
            .env("EVENTS_DIR", self.at("events"))
            .env("CALLS", self.at("calls"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        command
    }

    fn run(&self) -> Output {
        end_of(self.command().spawn().unwrap())
    }

    /// Returns the calls of the agent, without the directory.
    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.at("calls")).unwrap_or_default();
        calls
            .lines()
            .map(|call| call.replace(&format!("{}/", self.folder.path().display()), ""))
            .collect()
    }
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn without_inputs_there_is_nothing_to_do() {
    let machine = Machine::new();
    let output = machine.run();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        printed(&output)
            .contains("Gracefully exit aks-node-controller without provision config or nbc cmd")
    );
    assert_eq!(machine.calls(), [""; 0]);
}

#[test]
fn existing_inputs_are_passed_on_in_order() {
    for (files, call) in [
        (&["config.json"][..], "agent provision --provision-config=config.json"),
        (&["nbc.sh"], "agent provision --nbc-cmd=nbc.sh"),
        (
            &["config.json", "nbc.sh"],
            "agent provision --provision-config=config.json --nbc-cmd=nbc.sh",
        ),
    ] {
        let machine = Machine::new();
        for file in files {
            machine.file(file, "");
        }
        assert_eq!(machine.run().status.code(), Some(0));
        assert_eq!(machine.calls(), [call]);
    }
}

#[test]
fn the_agents_exit_code_is_the_launchers() {
    let machine = Machine::new();
    machine.file("config.json", "");
    let output = end_of(machine.command().env("AGENT_CODE", "50").spawn().unwrap());
    assert_eq!(output.status.code(), Some(50));
    assert!(printed(&output).contains("Spawned aks-node-controller (pid "));
    // Upstream's last lines, which its tests and log collectors search for.
    assert!(printed(&output).ends_with("aks-node-controller exited with code 50\n"));
    let output = machine.run();
    assert!(printed(&output).ends_with("aks-node-controller completed successfully\n"));
}

#[test]
fn a_hotfix_is_looked_for_only_when_the_gate_is_exactly_true() {
    for (features, checks) in [
        ("", false),
        ("ENABLE_PROVISIONING_HOTFIX=1\n", false),
        ("ENABLE_PROVISIONING_HOTFIX=TRUE\n", false),
        ("ENABLE_PROVISIONING_HOTFIX= true\n", false),
        ("exit 7\ntouch /x\nENABLE_PROVISIONING_HOTFIX=true", true),
        ("OTHER=true\n", false),
        ("ENABLE_PROVISIONING_HOTFIX=true\n", true),
        ("# comment\n\nX=1\nENABLE_PROVISIONING_HOTFIX=true", true),
    ] {
        let machine = Machine::new();
        machine.file("config.json", "").file("features", features);
        assert_eq!(machine.run().status.code(), Some(0));
        assert_eq!(
            machine.calls().contains(&"agent check-hotfix".to_owned()),
            checks,
            "{features}"
        );
    }
}

#[test]
fn check_download_and_provision_run_in_order_after_failures() {
    for fail in ["", "check-hotfix", "download-hotfix"] {
        let machine = Machine::new();
        machine
            .file("config.json", "")
            .file("hotfix.json", "{}")
            .file("features", "ENABLE_PROVISIONING_HOTFIX=true\n");
        let output = end_of(machine.command().env("FAIL", fail).spawn().unwrap());
        assert_eq!(output.status.code(), Some(0));
        let calls = machine.calls();
        assert_eq!(
            calls,
            [
                "agent check-hotfix",
                "agent download-hotfix",
                "agent provision --provision-config=config.json"
            ]
        );
        let printed = printed(&output);
        for (line, is_expected) in [
            ("running check-hotfix", true),
            ("ANC check-hotfix completed", fail != "check-hotfix"),
            ("ANC check-hotfix failed; continuing (fail-open)", fail == "check-hotfix"),
            ("hotfix.json; running download-hotfix", true),
            ("ANC download-hotfix completed; binary selection follows", fail != "download-hotfix"),
            ("ANC download-hotfix failed; binary selection follows", fail == "download-hotfix"),
            ("Using VHD-baked binary: ", true),
        ] {
            assert_eq!(printed.contains(line), is_expected, "{fail}: {line}: {printed}");
        }
    }
}

#[test]
fn killed_download_is_run_again() {
    let machine = Machine::new();
    machine.file("config.json", "").file("hotfix.json", "{}");
    machine.program(
        "agent",
        "#!/bin/bash\necho \"$*\" >> \"$CALLS\"\n[ \"$1\" != download-hotfix ] || kill -9 $$\n",
    );
    let output = machine.run();
    assert_eq!(output.status.code(), Some(0));
    let calls = ["download-hotfix", "download-hotfix", "provision --provision-config=config.json"];
    assert_eq!(machine.calls(), calls);
    assert!(printed(&output).contains("ANC download-hotfix failed; binary selection follows"));
}

#[test]
fn the_hotfix_policy_is_handed_on() {
    let machine = Machine::new();
    machine
        .file("config.json", "")
        .file("hotfix.json", "{}")
        .file("features", "MOORING_HOTFIX_POLICY=off\n");
    machine.program("agent", "#!/bin/bash\necho \"$1 $MOORING_HOTFIX_POLICY\" >> \"$CALLS\"\n");
    machine.run();
    assert_eq!(machine.calls(), ["download-hotfix off", "provision off"]);
}

#[test]
fn a_hotfix_binary_is_preferred_when_it_can_be_run() {
    let machine = Machine::new();
    machine.file("config.json", "").file("agent-hotfix", AGENT);
    machine.run();
    machine.program("agent-hotfix", AGENT);
    let output = machine.run();
    assert!(printed(&output).contains("Using hotfix binary: "));
    assert!(printed(&output).contains("ANC apply-embedded-hotfix completed\n"));
    // An agent without that command still provisions.
    let output = end_of(machine.command().env("FAIL", "apply-embedded-hotfix").spawn().unwrap());
    assert_eq!(output.status.code(), Some(0));
    assert!(printed(&output).contains("ANC apply-embedded-hotfix failed\n"));
    let hotfixed = [
        "agent-hotfix apply-embedded-hotfix",
        "agent-hotfix provision --provision-config=config.json",
    ];
    let calls = [&["agent provision --provision-config=config.json"], &hotfixed[..], &hotfixed];
    assert_eq!(machine.calls(), calls.concat());
}

#[test]
fn features_are_data_and_never_run() {
    let machine = Machine::new();
    let hostile = format!(
        "A=$(touch {0}/hit)\nB=`touch {0}/hit`\n; touch {0}/hit\n1X=2\nENABLE_PROVISIONING_HOTFIX=1; touch {0}/hit\n",
        machine.folder.path().display()
    );
    machine.file("config.json", "").file("features", &hostile);
    machine.program(
        "agent",
        "#!/bin/bash\necho \"toggle=$ENABLE_PROVISIONING_HOTFIX\" > \"$CALLS\"\n",
    );
    assert_eq!(machine.run().status.code(), Some(0));
    assert!(!machine.at("hit").exists());
    assert!(machine.calls()[0].starts_with("toggle=1; touch "), "{:?}", machine.calls());
}

#[test]
fn features_that_no_launcher_knows_reach_the_scripts() {
    let machine = Machine::new();
    machine.program("agent", "#!/bin/bash\nenv > \"$CALLS\"\n");
    machine.file("config.json", "").file(
        "features",
        "KUBELET_FLAGS_TO_OMIT=--a, --b\nENABLE_0803_TEST_FEATURE=no\nENABLE_0803_TEST_FEATURE=true\nGOOD=1",
    );
    let output = machine.run();
    let environment = machine.calls();
    for variable in ["KUBELET_FLAGS_TO_OMIT=--a, --b", "ENABLE_0803_TEST_FEATURE=true", "GOOD=1"] {
        assert!(environment.contains(&variable.to_owned()), "{variable}: {environment:?}");
    }
    assert!(!printed(&output).contains("Refused"), "{}", printed(&output));
    assert!(!machine.at("events").exists());
}

#[test]
fn features_cannot_set_what_decides_which_code_runs() {
    let machine = Machine::new();
    let hostile = machine.at("hostile");
    machine.program("hostile", "#!/bin/bash\ntouch \"$0.ran\"\n");
    machine.program("logger", "#!/bin/bash\ntouch \"$0.ran\"\n");
    machine.program("agent", "#!/bin/bash\nenv > \"$CALLS\"\n");
    let names = [
        // Set by the launcher or its environment.
        "BIN_PATH",
        "CONFIG_PATH",
        "NBC_CMD_PATH",
        "HOTFIX_JSON",
        "EVENTS_DIR",
        "RANDOM",
        // Shells, loaders, interpreters, tools and connections.
        "PATH",
        "BASH_ENV",
        "ENV",
        "IFS",
        "PS4",
        "SHELLOPTS",
        "BASHOPTS",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "GCONV_PATH",
        "XTABLES_LIBDIR",
        "IPTABLES_LIB_DIR",
        "IP_LIB_DIR",
        "TC_LIB_DIR",
        "LIBMOUNT_FSTAB",
        "CRI_CONFIG_FILE",
        "CONTAINER_RUNTIME_ENDPOINT",
        "NODE_EXTRA_CA_CERTS",
        "PYTHONPATH",
        "PERL5OPT",
        "TAR_OPTIONS",
        "HTTPS_PROXY",
        "SSL_CERT_FILE",
        "AKS_NODE_ROOT",
        // Other names, as of local variables of the launcher.
        "enable_provisioning_hotfix",
        "name",
        "refused",
        "_X",
    ];
    let mut features = String::from("ENABLE_PROVISIONING_HOTFIX=no\n");
    for name in names {
        writeln!(features, "{name}={}", hostile.display()).unwrap();
    }
    machine.file("config.json", "").file("features", &features);
    let output = machine.run();
    assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
    assert!(!machine.at("hostile.ran").exists() && !machine.at("logger.ran").exists());
    let environment = machine.calls();
    assert!(environment.contains(&"ENABLE_PROVISIONING_HOTFIX=no".to_owned()), "{environment:?}");
    for variable in environment {
        assert!(!variable.ends_with("=hostile"), "{variable}");
    }
    let refused = format!("efused feature flags ({}): BIN_PATH CONFIG_PATH ", names.len());
    assert!(printed(&output).contains(&refused), "{}", printed(&output));
    // Azure sees it as an event, in the form of the agent's own.
    let mut events = fs::read_dir(machine.at("events")).unwrap();
    let event = fs::read(events.next().unwrap().unwrap().path()).unwrap();
    assert!(events.next().is_none());
    let event: serde_json::Value = serde_json::from_slice(&event).unwrap();
    assert_eq!(event["TaskName"], "AKS.AKSNodeController.Features");
    assert_eq!(event["EventLevel"], "Informational");
    let message = event["Message"].as_str().unwrap();
    assert!(message.starts_with('r') && message.contains(&refused), "{message}");
    assert!(message.ends_with(" durationMs=0"), "{message}");
}

#[test]
fn a_stop_reaches_the_agent_and_its_last_word_is_waited_for() {
    let machine = Machine::new();
    machine.file("config.json", "");
    machine.program("agent", "#!/bin/bash\ntrap 'sleep 0.2; echo stopped >> \"$CALLS\"; exit 143' TERM\ntouch \"$CALLS.ready\"\nwhile :; do sleep 0.05; done\n");
    let launcher = machine.command().spawn().unwrap();
    eventually("the agent's start", || machine.at("calls.ready").exists());
    let pid = launcher.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(end_of(launcher).status.code(), Some(143));
    assert_eq!(machine.calls(), ["stopped"]);
}
