//! The cause, never a misleading code.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::support::{
    COMPONENTS, LOG, Node, REPORT, SENTINEL, START_SCRIPT, end_of, text, write_program,
};

const WITH_REGISTRY: &str =
    r#"{"version": "v1", "bootstrap_profile_container_registry_server": "mine.azurecr.io"}"#;
const WITHOUT_REGISTRY: &str = r#"{"version": "v1"}"#;
/// Leaves a trace, should it ever run.
const TRACE: &str = "touch \"$(dirname \"$0\")/ran\"";

/// A search path on which the machine's own programs are, but certainly no oras.
fn path_with(folder: &Path) -> String {
    format!("{}:/usr/bin:/bin", folder.display())
}

/// A directory for binaries.
fn programs(node: &Node) -> std::path::PathBuf {
    let folder = node.typed("programs");
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(node: &Node, words: &[&str]) -> Output {
    end_of(node.command(words).env("PATH", path_with(&programs(node))).spawn().unwrap())
}

fn findings(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stdout)))
}

fn finding<'f>(findings: &'f Value, check: &str) -> &'f Value {
    let mut all = findings["findings"].as_array().unwrap().iter();
    all.find(|finding| finding["check"] == check).unwrap()
}

fn report(node: &Node) -> Value {
    serde_json::from_str(&node.read(REPORT).unwrap()).unwrap()
}

/// An ELF header for a machine.
fn elf(machine: u8) -> Vec<u8> {
    let mut head = b"\x7fELF\x02\x01\x01".to_vec();
    head.resize(64, 0);
    head[16] = 2;
    head[18] = machine;
    head
}

const ARM64: u8 = 0xb7;
const X86_64: u8 = 0x3e;

fn this_machine() -> u8 {
    if cfg!(target_arch = "aarch64") { ARM64 } else { X86_64 }
}

#[test]
fn a_missing_oras_is_never_reported_as_a_network_time_out() {
    let node = Node::with_script(TRACE);
    let config = node.write_typed("config.json", WITH_REGISTRY);
    let output = run(&node, &["provision", "--provision-config", &config]);
    assert_eq!(output.status.code(), Some(232));
    assert_eq!(report(&node)["ExitCode"], "232");
    let error = report(&node)["Error"].as_str().unwrap().to_owned();
    assert!(
        error.starts_with("ERR_ORAS_BINARY_NOT_FOUND: oras is missing on this image"),
        "{error}"
    );
    let output_text = report(&node)["Output"].as_str().unwrap().to_owned();
    for part in [
        "PATH is ",
        "/usr/local/bin/oras: missing",
        "/opt/bin/oras: missing",
        "/etc/os-release",
        "package (rpm): ",
        "package (dpkg-query): ",
    ] {
        assert!(output_text.contains(part), "{part} in {output_text}");
    }
    assert!(node.exists(SENTINEL));
    assert!(!node.exists("/opt/azure/containers/ran"), "no script ran");
    let log = node.read(LOG).unwrap();
    assert!(
        log.contains("aks-node-controller failed") && log.contains("preflight: oras is missing")
    );
    let events: Vec<_> =
        node.files().into_iter().filter(|(path, _)| path.contains("/events/")).collect();
    assert!(
        events
            .iter()
            .any(|(_, event)| text(event).contains("exited with error ERR_ORAS_BINARY_NOT_FOUND"))
    );
    // A wait has the same result.
    let wait = node.run(&["provision-wait"]);
    assert_eq!(wait.status.code(), Some(232));
    for place in [text(&wait.stdout), log, output_text] {
        // As a separate word: a time may contain these digits.
        let mut words = place.split(|letter: char| !letter.is_ascii_alphanumeric());
        assert!(words.all(|word| word != "211"), "{place}");
        assert!(!place.contains("NETWORK_TIMEOUT"), "{place}");
    }
}

#[test]
fn an_nbc_command_that_needs_oras_is_not_run_without_it() {
    let node = Node::with_script("");
    let needs = format!("BOOTSTRAP_PROFILE_CONTAINER_REGISTRY_SERVER=\"mine.azurecr.io\" {TRACE}");
    let nbc = node.write_typed("nbc.sh", needs);
    assert_eq!(run(&node, &["provision", "--nbc-cmd", &nbc]).status.code(), Some(232));
    assert!(!node.typed("ran").exists());
    let node = Node::with_script("");
    let nbc = node.write_typed(
        "nbc.sh",
        format!("BOOTSTRAP_PROFILE_CONTAINER_REGISTRY_SERVER= bash -c true; {TRACE}"),
    );
    assert_eq!(run(&node, &["provision", "--nbc-cmd", &nbc]).status.code(), Some(0));
    assert!(node.typed("ran").exists());
}

#[test]
fn a_node_that_does_not_need_oras_is_only_warned() {
    let node = Node::with_script(TRACE);
    let config = node.write_typed("config.json", WITHOUT_REGISTRY);
    let output = run(&node, &["provision", "--provision-config", &config]);
    assert_eq!(output.status.code(), Some(0));
    assert!(node.exists("/opt/azure/containers/ran"));
    assert!(
        text(&output.stderr)
            .contains("\"level\":\"WARN\",\"msg\":\"preflight: oras is missing on this image\"")
    );
}

#[test]
fn different_reasons_for_a_missing_oras_are_different_answers() {
    type SetUp = fn(&Node, &Path);
    let other = if this_machine() == ARM64 { "x86-64" } else { "arm64" };
    let cases: [(&str, SetUp); 10] = [
        ("oras is missing on this image", |_, _| {}),
        ("oras is at /opt/bin/oras, which is not in PATH", |node, _| {
            write_program(&node.at("/opt/bin/oras"), elf(this_machine()), 0o755);
        }),
        ("is present, but not executable (mode 0644)", |_, programs| {
            write_program(&programs.join("oras"), elf(this_machine()), 0o644);
        }),
        ("is a broken link (to /nowhere/oras)", |_, programs| {
            symlink("/nowhere/oras", programs.join("oras")).unwrap();
        }),
        ("is present, but not a file", |_, programs| {
            fs::create_dir(programs.join("oras")).unwrap();
        }),
        ("is present, but made for OTHER", |_, programs| {
            let machine = if this_machine() == ARM64 { X86_64 } else { ARM64 };
            write_program(&programs.join("oras"), elf(machine), 0o755);
        }),
        ("is present, but empty", |_, programs| {
            write_program(&programs.join("oras"), b"", 0o755);
        }),
        ("is present, but neither a program nor a script (7 bytes)", |_, programs| {
            write_program(&programs.join("oras"), b"<html>\n", 0o755);
        }),
        ("is present, but cut short (20000 of at least ", |_, programs| {
            let program = fs::read("/bin/bash").unwrap();
            write_program(&programs.join("oras"), &program[..20_000], 0o755);
        }),
        ("is present, but `oras version` fails (exit status 3)", |_, programs| {
            write_program(&programs.join("oras"), b"#!/bin/sh\nexit 3\n", 0o755);
        }),
    ];
    for (expected, set_up) in cases {
        let node = Node::with_script(TRACE);
        set_up(&node, &programs(&node));
        let config = node.write_typed("config.json", WITH_REGISTRY);
        let output = run(&node, &["preflight", "--provision-config", &config, "-o", "json"]);
        assert_eq!(output.status.code(), Some(232), "{expected}");
        let found = findings(&output);
        let summary = finding(&found, "oras")["summary"].as_str().unwrap();
        assert!(summary.contains(&expected.replace("OTHER", other)), "{summary}");
        assert!(summary.ends_with("and this node needs it to pull from mine.azurecr.io"));
    }
}

#[test]
fn oras_that_is_cut_short_does_not_ship() {
    let whole = fs::read("/bin/bash").unwrap();
    for (content, expected) in [
        (&whole[..], None),
        (b"", Some("is present, but empty")),
        (&whole[..whole.len() * 9 / 10], Some("cut short")),
        (&whole[..30], Some("cut short (30 of at least 64 bytes)")),
    ] {
        let image = Node::with_script("");
        for name in ["bash", "oras"] {
            let content = if name == "bash" { &whole[..] } else { content };
            write_program(&image.at("/usr/bin").join(name), content, 0o755);
        }
        let found = findings(&run(&image, &["preflight", "--stage", "image", "-o", "json"]));
        let oras = finding(&found, "oras");
        assert_eq!(
            oras["verdict"],
            if expected.is_some() { "fatal" } else { "pass" },
            "{expected:?}"
        );
        assert!(oras["summary"].as_str().unwrap().contains(expected.unwrap_or_default()), "{oras}");
    }
}

#[test]
fn oras_is_started_with_nothing_of_the_agents_environment() {
    let node = Node::with_script(TRACE);
    let seen = node.typed("seen");
    let program = format!("#!/bin/sh\nenv > '{}'\n", seen.display());
    write_program(&programs(&node).join("oras"), program, 0o755);
    let config = node.write_typed("config.json", WITH_REGISTRY);
    let mut command = node.command(&["preflight", "--provision-config", &config, "-o", "json"]);
    command.env("PATH", path_with(&programs(&node))).env("TLS_BOOTSTRAP_TOKEN", "canary");
    let output = end_of(command.spawn().unwrap());
    assert_eq!(finding(&findings(&output), "oras")["verdict"], "pass");
    assert!(!fs::read_to_string(seen).unwrap().contains("canary"));
}

#[test]
fn usable_oras_after_a_broken_one_is_found() {
    let node = Node::with_script(TRACE);
    let folder = programs(&node);
    write_program(&folder.join("oras"), b"#!/bin/sh\n", 0o644);
    let second = node.typed("second");
    write_program(&second.join("oras"), b"#!/bin/sh\n", 0o755);
    let path = format!("{}:{}:/usr/bin:/bin", folder.display(), second.display());
    let output =
        end_of(node.command(&["preflight", "-o", "json"]).env("PATH", path).spawn().unwrap());
    assert_eq!(finding(&findings(&output), "oras")["verdict"], "pass");
}

#[test]
fn an_image_without_oras_does_not_ship() {
    let image = Node::new();
    image.write("/opt/azure/components.json", COMPONENTS);
    image.write(START_SCRIPT, "");
    image.write(
        "/etc/os-release",
        "PRETTY_NAME=\"Microsoft Azure Linux 3.0\"\nVERSION_ID=\"3.0\"\n",
    );
    let root = image.root();
    write_program(&image.at("/usr/bin/bash"), elf(ARM64), 0o755);
    symlink("usr/bin", root.join("bin")).unwrap();
    let check = || run(&image, &["preflight", "--stage", "image", "-o", "json"]);
    let output = check();
    assert_eq!(output.status.code(), Some(1));
    let found = findings(&output);
    assert_eq!(
        (found["schema"].as_str(), found["stage"].as_str()),
        (Some("mooring.preflight/v1"), Some("image"))
    );
    let oras = finding(&found, "oras");
    assert_eq!(
        (oras["verdict"].as_str(), oras["name"].as_str()),
        (Some("fatal"), Some("ERR_ORAS_BINARY_NOT_FOUND"))
    );
    assert_eq!(oras["audience"], "image");
    let evidence = oras["evidence"].to_string();
    assert!(
        evidence.contains("Microsoft Azure Linux 3.0")
            && evidence.contains("/usr/local/sbin:/usr/local/bin"),
        "{evidence}"
    );
    assert_eq!(finding(&found, "clock")["verdict"], "skipped");

    // The machine that checks may have what the image lacks; a link leads into the image.
    symlink("/bin/sh", root.join("usr/bin/oras")).unwrap();
    assert_eq!(check().status.code(), Some(1));
    fs::remove_file(root.join("usr/bin/oras")).unwrap();
    write_program(&image.at("/opt/oras-1.2/oras"), elf(ARM64), 0o755);
    symlink("/opt/oras-1.2/oras", root.join("usr/bin/oras")).unwrap();
    let output = check();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));

    // What counts is the image's own machine.
    write_program(&image.at("/opt/oras-1.2/oras"), elf(X86_64), 0o755);
    let output = check();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        finding(&findings(&output), "oras")["summary"]
            .as_str()
            .unwrap()
            .contains("made for x86-64; this machine is arm64")
    );
}

#[test]
fn everything_else_only_warns() {
    let node = Node::with_script("");
    let config = node.write_typed("config.json", WITHOUT_REGISTRY);
    fs::set_permissions(&config, fs::Permissions::from_mode(0o644)).unwrap();
    let output = run(&node, &["preflight", "--provision-config", &config, "-o", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let found = findings(&output);
    let mode = finding(&found, "config-mode");
    assert!(
        mode["verdict"] == "warning" && mode["summary"].as_str().unwrap().contains("mode 0644")
    );
    fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();
    let found = findings(&run(&node, &["preflight", "--provision-config", &config, "-o", "json"]));
    assert_eq!(finding(&found, "config-mode")["verdict"], "pass");
}

#[test]
fn earlier_sentinel_is_fatal_unless_node_was_bootstrapped() {
    for (stage, report, verdict, expected) in [
        ("node", Some(r#"{"ExitCode":"0"}"#), "pass", "has been bootstrapped"),
        ("node", Some(r#"{"ExitCode":"50"}"#), "fatal", "failed with 50"),
        ("node", None, "fatal", "without a readable report"),
        ("image", Some(r#"{"ExitCode":"0"}"#), "fatal", "a run that succeeded"),
        ("image", Some(r#"{"ExitCode":"50"}"#), "fatal", "failed with 50"),
        ("image", None, "fatal", "without a readable report"),
    ] {
        let node = Node::with_script("");
        node.write(SENTINEL, "");
        if let Some(report) = report {
            node.write(REPORT, report);
        }
        let output = run(&node, &["preflight", "--stage", stage, "-o", "json"]);
        let found = findings(&output);
        let left_over = finding(&found, "left-over");
        assert_eq!(left_over["verdict"], verdict, "{stage} {report:?}");
        assert!(left_over["summary"].as_str().unwrap().contains(expected), "{left_over}");
        assert_eq!(output.status.success(), verdict == "pass", "{stage} {report:?}");
    }
}

#[test]
fn the_config_that_custom_data_left_is_the_default() {
    let node = Node::with_script("");
    node.write("/opt/azure/containers/aks-node-controller-config.json", WITH_REGISTRY);
    assert_eq!(run(&node, &["preflight"]).status.code(), Some(232));
    let node = Node::with_script("");
    node.write(
        "/opt/azure/containers/aks-node-controller-nbc-cmd.sh",
        "BOOTSTRAP_PROFILE_CONTAINER_REGISTRY_SERVER=r x",
    );
    assert_eq!(run(&node, &["preflight"]).status.code(), Some(232));
}

#[test]
fn preflight_writes_nothing() {
    let node = Node::with_script("");
    let before = node.files();
    let output = run(&node, &["preflight"]);
    assert!(text(&output.stdout).lines().count() > 10);
    assert_eq!(node.files(), before);
}

#[test]
fn the_network_is_probed_only_on_request_and_never_fatal() {
    let node = Node::with_script("");
    let config = r#"{"version": "v1", "bootstrap_profile_container_registry_server": "registry.invalid",
        "api_server_config": {"api_server_name": "127.0.0.1:1"}}"#;
    let config = node.write_typed("config.json", config);
    write_program(&programs(&node).join("oras"), b"#!/bin/sh\n", 0o755);
    let words = ["preflight", "--provision-config", &config, "-o", "json"];
    let quiet = findings(&run(&node, &words));
    assert!(!quiet["findings"].to_string().contains("registry.invalid"));
    let here = ["--network", "--imds-endpoint", "http://127.0.0.1:1"];
    let output = run(&node, &[&words[..], &here].concat());
    assert_eq!(output.status.code(), Some(0));
    let found = findings(&output);
    let registry = finding(&found, "registry");
    assert_eq!(registry["verdict"], "warning");
    assert!(registry["summary"].as_str().unwrap().contains("DNS"), "{registry}");
    let api_server = finding(&found, "api-server");
    assert_eq!(api_server["verdict"], "warning");
    assert!(api_server["summary"].as_str().unwrap().contains("cannot connect"), "{api_server}");
    assert_eq!(api_server["code"], 51);
    assert_eq!(finding(&found, "imds")["verdict"], "warning");
}

#[test]
fn reachable_api_server_is_found() {
    let node = Node::with_script("");
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let config =
        format!(r#"{{"version": "v1", "api_server_config": {{"api_server_name": "{address}"}}}}"#);
    let config = node.write_typed("config.json", config);
    let imds = ["--network", "--imds-endpoint", "http://127.0.0.1:1"];
    let words = [&["preflight", "--provision-config", &config, "-o", "json"], &imds[..]].concat();
    let found = findings(&run(&node, &words));
    assert_eq!(finding(&found, "api-server")["verdict"], "pass");
    assert_eq!(finding(&found, "registry")["verdict"], "skipped");
}

#[test]
fn config_whose_secrets_are_masked_is_refused() {
    let masked =
        r#"{"version": "v1", "bootstrapping_config": {"tls_bootstrapping_token": "[secret]"}}"#;
    let node = Node::with_script(TRACE);
    let config = node.write_typed("config.json", masked);
    let shown = run(&node, &["preflight", "--provision-config", &config, "-o", "json"]);
    assert_eq!(shown.status.code(), Some(240));
    let found = findings(&shown);
    let summary = finding(&found, "config")["summary"].as_str().unwrap();
    assert!(summary.contains("masked"), "{summary}");
    let output = run(&node, &["provision", "--provision-config", &config]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(report(&node)["ExitCode"], "240");
    assert!(!node.exists("/opt/azure/containers/ran"));
}

#[test]
fn names_resolve_as_the_nodes_own_tools_resolve_them() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let node = Node::with_script("");
    // The agent's own resolver knows no such name; the node's does, with an answer for IPv4 only.
    let getent = "#!/bin/sh\n[ \"$*\" = 'ahosts api.mooring.invalid' ] || exit 2\n\
        printf '127.0.0.1  STREAM api.mooring.invalid\\n127.0.0.1  DGRAM  \\n'\n";
    write_program(&programs(&node).join("getent"), getent, 0o755);
    let config = format!(
        r#"{{"version": "v1", "api_server_config": {{"api_server_name": "api.mooring.invalid:{port}"}}}}"#
    );
    let config = node.write_typed("config.json", config);
    let words = ["preflight", "--provision-config", &config, "--network", "-o", "json"];
    let words = [&words[..], &["--imds-endpoint", "http://127.0.0.1:1"]].concat();
    let found = findings(&run(&node, &words));
    let api_server = finding(&found, "api-server");
    assert_eq!(api_server["verdict"], "pass", "{api_server}");
}

/// A package manager that prints to both streams and exits.
fn write_manager(node: &Node, name: &str, [out, err]: [&str; 2], code: u8) {
    let text = format!(
        "#!/bin/sh\necho \"$*\" > \"$0.words\"\nprintf '{out}'\nprintf '{err}' >&2\nexit {code}\n"
    );
    write_program(&programs(node).join(name), text, 0o755);
}

/// Runs on a node with these package managers only, or checks its root as an image.
fn oras_evidence(node: &Node, stage: &str) -> Vec<String> {
    let config = node.write_typed("config.json", WITH_REGISTRY);
    let words = ["preflight", "--stage", stage, "-o", "json", "--provision-config", &config];
    let mut command = node.command(&words);
    let output = end_of(command.env("PATH", programs(node)).spawn().unwrap());
    let found = findings(&output);
    let evidence = finding(&found, "oras")["evidence"].as_array().unwrap().iter();
    evidence.map(|line| line.as_str().unwrap().to_owned()).collect()
}

#[test]
fn evidence_has_the_whole_os_release() {
    let node = Node::with_script("");
    node.write(
        "/etc/os-release",
        "PRETTY_NAME=\"Azure Linux\"\nVERSION_ID=\"3.0\"\nBUILD=\x1b[2J7\n",
    );
    let evidence = oras_evidence(&node, "node");
    let lines = [
        "/etc/os-release:",
        "  PRETTY_NAME=\"Azure Linux\"",
        "  VERSION_ID=\"3.0\"",
        "  BUILD=[2J7",
    ];
    assert!(evidence.windows(4).any(|window| window == lines), "{evidence:?}");
    fs::remove_file(node.at("/etc/os-release")).unwrap();
    let evidence = oras_evidence(&node, "node").join("\n");
    assert!(evidence.contains("open /etc/os-release: no such file or directory"), "{evidence}");
}

#[test]
fn package_manager_that_is_absent_or_fails_has_no_record() {
    for (rpm, dpkg, expected) in [
        (None, None, ["not available", "not available"]),
        (
            Some((["package oras is not installed\n", ""], 1)),
            None,
            ["oras is not installed", "not available"],
        ),
        (Some((["oras-1.2.3", ""], 0)), None, ["oras-1.2.3", "not available"]),
        (
            None,
            Some((["", "dpkg-query: no packages found matching oras\n"], 1)),
            ["not available", "oras is not installed"],
        ),
        (
            Some((["package oras is not installed\n", "error: no database"], 1)),
            Some((["", "dpkg-query: error"], 2)),
            [
                "unknown (exit status 1: package oras is not installed\\nerror: no database)",
                "unknown (exit status 2: dpkg-query: error)",
            ],
        ),
    ] {
        let node = Node::with_script("");
        for (name, manager) in [("rpm", rpm), ("dpkg-query", dpkg)] {
            if let Some((printed, code)) = manager {
                write_manager(&node, name, printed, code);
            }
        }
        let evidence = oras_evidence(&node, "node");
        let packages: Vec<&str> =
            evidence.iter().filter_map(|line| line.strip_prefix("package (")).collect();
        let [rpm, dpkg] = expected;
        assert_eq!(packages, [format!("rpm): {rpm}"), format!("dpkg-query): {dpkg}")]);
    }
}

#[test]
fn packages_of_an_image_are_those_of_its_databases() {
    let image = Node::with_script("");
    write_manager(&image, "rpm", ["oras-1.2.3", ""], 0);
    let packages = |image: &Node| oras_evidence(image, "image").join("\n");
    assert!(
        packages(&image).contains("package (rpm): not available"),
        "this host has rpm, the image has not"
    );
    image.write("/usr/lib/sysimage/rpm/rpmdb.sqlite", "");
    assert!(packages(&image).contains("package (rpm): oras-1.2.3"), "{}", packages(&image));
    let words = fs::read_to_string(programs(&image).join("rpm.words")).unwrap();
    assert_eq!(
        words,
        format!("--dbpath {}/usr/lib/sysimage/rpm -q oras\n", image.root().display())
    );
    image.write("/var/lib/dpkg/status", "");
    assert!(
        packages(&image).contains("package (dpkg-query): unknown (dpkg-query here: "),
        "{}",
        packages(&image)
    );
}

#[test]
fn advice_is_for_operators_on_a_node_and_for_builders_in_an_image() {
    for (stage, audience, advice) in
        [("node", "operator", "use an image version that has"), ("image", "image", "install oras")]
    {
        let node = Node::new();
        let config = node.write_typed("config.json", WITH_REGISTRY);
        let words = ["preflight", "--stage", stage, "-o", "json", "--provision-config", &config];
        let found = findings(&run(&node, &words));
        for check in ["oras", "start-script", "components"] {
            let finding = finding(&found, check);
            assert_eq!(finding["audience"], audience, "{check} {stage}");
            let action = finding["action"].as_str().unwrap();
            assert_eq!(action.starts_with("use "), stage == "node", "{action}");
            assert!(check != "oras" || action.starts_with(advice), "{action}");
        }
    }
}

mod slow {
    use super::*;

    #[test]
    fn broken_prerequisites_are_reported_by_documented_priority() {
        for broken in 0..32_u32 {
            let is = |bit: u32| broken & (1 << bit) != 0;
            let (bad_config, no_oras, no_start, no_components, left_over) =
                (is(0), is(1), is(2), is(3), is(4));
            let node = Node::new();
            if !no_oras {
                write_program(&programs(&node).join("oras"), b"#!/bin/sh\n", 0o755);
            }
            if !no_start {
                node.write(START_SCRIPT, TRACE);
            }
            if !no_components {
                node.write("/opt/azure/components.json", COMPONENTS);
            }
            if left_over {
                node.write(SENTINEL, "");
            }
            fs::create_dir_all(node.at("/var/log/azure")).unwrap();
            let config =
                node.write_typed("config.json", if bad_config { "{" } else { WITH_REGISTRY });
            let (code, exit) = match (left_over, bad_config, no_oras, no_start, no_components) {
                (true, ..) => ("240", 240),
                (_, true, ..) => ("240", 1),
                (_, _, true, ..) => ("232", 232),
                (_, _, _, true, _) => ("65", 65),
                (.., true) => ("240", 1),
                _ => ("", 0),
            };
            // The command shows every finding, not only the first.
            let shown = run(&node, &["preflight", "--provision-config", &config, "-o", "json"]);
            let expected = if code.is_empty() { 0 } else { code.parse().unwrap() };
            assert_eq!(shown.status.code(), Some(expected), "{broken:05b}");
            let found = findings(&shown);
            for (check, is_broken) in [
                ("left-over", left_over),
                ("config", bad_config),
                ("start-script", no_start),
                ("components", no_components),
            ] {
                assert_eq!(
                    finding(&found, check)["verdict"] == "fatal",
                    is_broken,
                    "{broken:05b} {check}"
                );
            }
            // An unreadable config names no registry.
            let oras = if !no_oras {
                "pass"
            } else if bad_config {
                "warning"
            } else {
                "fatal"
            };
            assert_eq!(finding(&found, "oras")["verdict"], oras, "{broken:05b}");
            assert_eq!(found["exitCode"], expected);
            let output = run(&node, &["provision", "--provision-config", &config]);
            assert_eq!(output.status.code(), Some(exit), "{broken:05b}");
            if left_over {
                assert!(
                    !node.exists(REPORT),
                    "{broken:05b}: what an earlier run left is not touched"
                );
            } else if !code.is_empty() {
                assert_eq!(report(&node)["ExitCode"], code, "{broken:05b}");
            }
            assert_eq!(node.exists("/opt/azure/containers/ran"), code.is_empty(), "{broken:05b}");
        }
    }
}
