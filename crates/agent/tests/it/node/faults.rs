//! Invalid inputs and I/O errors: a clear message, the correct exit code, and a result if the file
//! system allows.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::fault_injection::{EACCES, EIO, ENOSPC, EROFS, ETIMEDOUT, Faulty};
use crate::support::{LOG, Node, REPORT, SENTINEL, START_SCRIPT, text};

const CONFIG: &str = r#"{"version": "v1"}"#;

/// Provisions with a rule; returns the exit code and standard error.
fn provision(node: &Node, rule: impl FnMut(&str, &Path) -> Option<i32> + 'static) -> (u8, String) {
    let config = node.write_typed("config.json", CONFIG);
    let mut rule = rule;
    let mut world = Faulty::new(&node.root(), move |operation, path| match operation {
        // This is not the process whose panics or signals count.
        "on_panic" => Some(EIO),
        "caught_signal" => None,
        _ => rule(operation, path),
    });
    let exit_code = world.run(&["provision", "--provision-config", &config]);
    (exit_code, text(&world.err))
}

fn report(node: &Node) -> serde_json::Value {
    serde_json::from_str(&node.read(REPORT).expect("a report")).expect("whole JSON")
}

#[test]
fn bad_inputs_end_in_a_sentence_that_names_the_file() {
    let deep = format!("{{\"x\":{}", "[".repeat(100_000));
    let large = format!("{{\"version\":\"v1\"}}{}", " ".repeat(10 << 20));
    for (content, expected) in [
        (None, "open provision file CONFIG: open CONFIG: no such file or directory"),
        (
            Some(&b""[..]),
            "parse provision file CONFIG: malformed JSON: unexpected end of text (line 1, column 1)",
        ),
        (
            Some(b"\xff\xfe{}"),
            "parse provision file CONFIG: malformed JSON: expected a value (line 1, column 1)",
        ),
        (
            Some(b"{\"vm_size\": \"\xff\"}"),
            "parse provision file CONFIG: vm_size: malformed JSON: the text is not UTF-8 (line 1, column 14)",
        ),
        (
            Some(deep.as_bytes()),
            "parse provision file CONFIG: x: nested too deeply (line 1, column 10005)",
        ),
        (
            Some(large.as_bytes()),
            "open provision file CONFIG: read CONFIG: the file is larger than the 4194304 bytes accepted",
        ),
        (Some(b"{\"version\":\"v9\"}"), "unsupported version: v9"),
    ] {
        let node = Node::with_script("exit 0");
        let config = match content {
            Some(content) => node.write_typed("config.json", content),
            None => node.typed("config.json").to_str().unwrap().to_owned(),
        };
        let output = node.run(&["provision", "--provision-config", &config]);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(report(&node)["ExitCode"], "240");
        assert_eq!(report(&node)["Error"], expected.replace("CONFIG", &config));
        assert!(text(&output.stderr).contains("aks-node-controller failed"));
        assert!(node.exists(SENTINEL));
    }
}

#[test]
fn directory_in_place_of_config_is_reported() {
    let node = Node::with_script("exit 0");
    let folder = node.typed("").to_str().unwrap().trim_end_matches('/').to_owned();
    assert_eq!(node.run(&["provision", "--provision-config", &folder]).status.code(), Some(1));
    let expected = format!("open provision file {folder}: read {folder}: is a directory");
    assert_eq!(report(&node)["Error"], expected);
}

#[test]
fn missing_or_broken_component_list_is_reported() {
    for (content, expected) in [
        (
            None,
            "failed to load GPU config: read /opt/azure/components.json: open /opt/azure/components.json: no such file or directory",
        ),
        (
            Some("[]"),
            "failed to load GPU config: parse /opt/azure/components.json: failed to unmarshal components.json: expected an object, found an array",
        ),
    ] {
        let node = Node::new();
        node.write(START_SCRIPT, "");
        if let Some(content) = content {
            node.write("/opt/azure/components.json", content);
        }
        let (exit_code, _) = provision(&node, |_, _| None);
        assert_eq!(exit_code, 1);
        assert_eq!(report(&node)["Error"], expected);
        assert!(node.exists(SENTINEL));
    }
}

#[test]
fn config_without_read_permission_is_reported() {
    let node = Node::with_script("exit 0");
    let (exit_code, _) = provision(&node, |operation, path| {
        (operation == "open" && path.ends_with("config.json")).then_some(EACCES)
    });
    assert_eq!(exit_code, 1);
    assert!(report(&node)["Error"].as_str().unwrap().ends_with("config.json: permission denied"));
}

#[test]
fn report_is_complete_or_absent_after_any_fault() {
    // Every operation that leaving a result takes fails in turn, with every error.
    for number in [EIO, EACCES, ENOSPC, EROFS] {
        for failing in 0.. {
            let node = Node::with_script("echo gone wrong; exit 50");
            let mut count = 0;
            let (exit_code, output) = provision(&node, move |operation, path| {
                let ours = path.to_string_lossy().contains("provision.json")
                    || path.to_string_lossy().contains("provision.complete");
                let writes = matches!(operation, "mkdir" | "write" | "sync" | "rename");
                let hit = ours && writes && !path.to_string_lossy().contains("/run/");
                count += usize::from(hit);
                (hit && count == failing + 1).then_some(number)
            });
            assert_eq!(exit_code, 50, "the scripts' code stands");
            if node.exists(REPORT) {
                assert_eq!(report(&node)["ExitCode"], "50");
            }
            let names: Vec<_> = node.files().into_keys().collect();
            assert!(
                !names.iter().any(|name| name.contains("/.provision")),
                "left behind: {names:?}"
            );
            if !output.contains("failed to write") {
                assert!(node.exists(REPORT) && node.exists(SENTINEL));
                assert!(failing > 0, "no operation failed at all");
                break;
            }
        }
    }
}

#[test]
fn a_report_is_on_the_disk_before_the_sentinel_appears() {
    let node = Node::with_script("exit 50");
    let config = node.write_typed("config.json", CONFIG);
    let mut world =
        Faulty::new(&node.root(), |operation, _| (operation == "on_panic").then_some(EIO));
    assert_eq!(world.run(&["provision", "--provision-config", &config]), 50);
    let trace = world.trace.borrow();
    let root = node.root().display().to_string();
    let writes: Vec<String> = trace
        .iter()
        .filter(|line| !line.contains("/run/") && !line.contains("/events"))
        .filter(|line| ["write ", "sync ", "rename "].iter().any(|op| line.starts_with(op)))
        .map(|line| line.replace(&root, ""))
        .collect();
    let pid = std::process::id();
    assert_eq!(
        writes,
        [
            format!("write /var/log/azure/aks/.provision.json.{pid}"),
            format!("sync /var/log/azure/aks/.provision.json.{pid}"),
            "rename /var/log/azure/aks/provision.json".to_owned(),
            "sync /var/log/azure/aks".to_owned(),
            format!("write /opt/azure/containers/.provision.complete.{pid}"),
            format!("sync /opt/azure/containers/.provision.complete.{pid}"),
            "rename /opt/azure/containers/provision.complete".to_owned(),
            "sync /opt/azure/containers".to_owned(),
        ]
    );
}

#[test]
fn links_in_the_place_of_results_are_not_followed() {
    let node = Node::with_script("exit 50");
    let (report_target, sentinel_target) = (node.typed("stolen.json"), node.typed("stolen"));
    std::fs::create_dir_all(node.at("/var/log/azure/aks")).unwrap();
    symlink(&report_target, node.at(REPORT)).unwrap();
    symlink(&sentinel_target, node.at(SENTINEL)).unwrap();
    assert_eq!(provision(&node, |_, _| None).0, 50);
    assert!(!report_target.exists() && !sentinel_target.exists());
    assert_eq!(report(&node)["ExitCode"], "50");
    assert!(!node.at(REPORT).is_symlink() && !node.at(SENTINEL).is_symlink());
    assert_eq!((node.mode(REPORT), node.mode(SENTINEL)), (0o600, 0o600));
}

#[test]
fn a_log_that_cannot_be_opened_still_ends_in_a_result() {
    let node = Node::with_script("exit 0");
    let config = node.write_typed("config.json", CONFIG);
    let mut world =
        Faulty::new(&node.root(), |operation, _| (operation == "append").then_some(EROFS));
    assert_eq!(world.run(&["provision", "--provision-config", &config]), 1);
    let expected = format!("failed to open log file: open {LOG}: read-only file system");
    assert_eq!(text(&world.out), format!("{expected}\n"));
    assert_eq!(report(&node)["Error"], expected);
    assert!(node.exists(SENTINEL));
    // Only a wait for a `provision` needs one.
    let node = Node::new();
    let mut world =
        Faulty::new(&node.root(), |operation, _| (operation == "append").then_some(EROFS));
    assert_eq!(world.run(&["version"]), 1);
    assert!(!node.exists(REPORT) && !node.exists(SENTINEL));
}

#[test]
fn sentinel_without_its_report_is_left_only_to_those_who_wait() {
    for (is_recorded, fails) in [(true, &["/aks/"][..]), (false, &["/aks/", "/run/"])] {
        let node = Node::with_script("exit 50");
        let (exit_code, _) = provision(&node, move |operation, path| {
            let path = path.to_string_lossy();
            let is_report = path.contains("provision.json");
            (operation == "write" && is_report && fails.iter().any(|part| path.contains(part)))
                .then_some(ENOSPC)
        });
        assert_eq!(exit_code, 50);
        assert!(!node.exists(REPORT));
        assert_eq!(node.exists(SENTINEL), !is_recorded);
    }
}

#[test]
fn torn_report_of_successful_scripts_is_replaced() {
    let node = Node::with_script(
        "cd \"$(dirname \"$0\")\"; mkdir -p ../../../var/log/azure/aks; \
         : > ../../../var/log/azure/aks/provision.json; touch provision.complete",
    );
    assert_eq!(provision(&node, |_, _| None).0, 0);
    assert_eq!(report(&node)["ExitCode"], "0");
    let record = node.read("/run/aks-node-controller/provision.json").unwrap();
    assert!(record.contains(r#""report":"{\"ExitCode\":\"0\""#), "{record}");
}

#[test]
fn report_ends_with_what_the_scripts_logged_in_this_run() {
    const SCRIPTS_LOG: &str = "/var/log/azure/cluster-provision.log";
    for (letters, kept) in [(7, 7), (3000, 3000), (3001, 3000)] {
        let script = format!(
            "log=\"$(dirname \"$0\")/../../..{SCRIPTS_LOG}\"; \
             head -c {letters} /dev/zero | tr '\\0' . >> \"$log\"; exit 50"
        );
        let node = Node::with_script(&script);
        node.write(SCRIPTS_LOG, "an earlier run\n");
        assert_eq!(provision(&node, |_, _| None).0, 50);
        let output = report(&node)["Output"].as_str().unwrap().to_owned();
        assert!(!output.contains("earlier"), "{output}");
        assert_eq!(output.chars().filter(|letter| *letter == '.').count(), kept);
    }
}

#[test]
fn signals_that_cannot_be_caught_do_not_stop_the_boot() {
    let node = Node::with_script("exit 0");
    let fails = |operation: &str, _: &Path| (operation == "catch_signals").then_some(EIO);
    let (exit_code, output) = provision(&node, fails);
    assert_eq!(exit_code, 0);
    assert!(output.contains("failed to catch signals"), "{output}");
}

#[test]
fn irregular_log_file_does_not_stop_the_boot() {
    for (what, make) in [
        (
            "a link",
            (|node: &Node| symlink(node.typed("stolen"), node.at(LOG)).unwrap()) as fn(&Node),
        ),
        ("a FIFO", |node| {
            let made = std::process::Command::new("mkfifo").arg(node.at(LOG)).status().unwrap();
            assert!(made.success());
        }),
        ("a directory", |node| std::fs::create_dir(node.at(LOG)).unwrap()),
    ] {
        let node = Node::with_script("exit 50");
        make(&node);
        let (exit_code, output) = provision(&node, |_, _| None);
        assert_eq!(exit_code, 50, "{what}");
        assert!(!node.typed("stolen").exists(), "{what}");
        let warning = "the log file is not a regular file; logging to standard error only";
        assert!(output.contains(warning) && output.contains("CSE finished"), "{what}: {output}");
        assert_eq!(report(&node)["ExitCode"], "50", "{what}");
    }
}

#[test]
fn fifo_with_a_reader_in_place_of_the_log_receives_nothing() {
    let node = Node::with_script("exit 50");
    let path = node.at(LOG);
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    // Reading and writing, so that the open does not wait.
    let mut reader = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    assert_eq!(provision(&node, |_, _| None).0, 50);
    std::io::Write::write_all(&mut reader, b"end").unwrap();
    let mut received = [0; 64];
    let length = std::io::Read::read(&mut reader, &mut received).unwrap();
    assert_eq!(&received[..length], b"end");
}

#[test]
fn log_is_private_also_if_it_existed_before() {
    let node = Node::with_script("exit 0");
    provision(&node, |_, _| None);
    assert_eq!(node.mode(LOG), 0o640);
    for (before, after) in [(0o644, 0o640), (0o666, 0o640), (0o600, 0o600)] {
        let node = Node::with_script("exit 0");
        node.write(LOG, "before\n");
        std::fs::set_permissions(node.at(LOG), std::fs::Permissions::from_mode(before)).unwrap();
        provision(&node, |_, _| None);
        assert_eq!(node.mode(LOG), after);
        assert!(node.read(LOG).unwrap().starts_with("before\n{"));
    }
}

#[test]
fn hanging_containerd_is_reported_and_boot_continues() {
    let node = Node::with_script("exit 0");
    let (exit_code, output) = provision(&node, |operation, path| {
        (operation == "probe" && path.ends_with("containerd")).then_some(ETIMEDOUT)
    });
    assert_eq!(exit_code, 0, "{output}");
    assert!(output.contains("`containerd --version` timed out and was killed"), "{output}");
    assert!(output.contains("finished successfully"), "{output}");
}

#[test]
fn a_full_disk_under_the_log_does_not_stop_a_bootstrap() {
    let node = Node::with_script("exit 0");
    let mut appends = 0;
    let (exit_code, output) = provision(&node, move |operation, _| {
        appends += usize::from(operation == "append");
        (operation == "append" && appends > 1 || operation == "write").then_some(ENOSPC)
    });
    assert_eq!(exit_code, 0);
    assert!(output.contains("aks-node-controller finished successfully."));
    assert!(output.contains("failed to write event file"));
    assert!(output.contains("failed to record this provision"));
}

#[test]
fn shell_that_cannot_be_started_is_reported() {
    let node = Node::with_script("exit 0");
    let (exit_code, _) = provision(&node, |operation, _| (operation == "run").then_some(2));
    assert_eq!(exit_code, 1);
    assert_eq!(report(&node)["ExitCode"], "-1");
    assert_eq!(report(&node)["Error"], "fork/exec /bin/bash: no such file or directory");
}

#[test]
fn a_signal_before_the_start_ends_in_a_result() {
    let node = Node::with_script("exit 0");
    let config = node.write_typed("config.json", CONFIG);
    let mut world = Faulty::new(&node.root(), |operation, _| {
        matches!(operation, "on_panic" | "caught_signal").then_some(EIO)
    });
    assert_eq!(world.run(&["provision", "--provision-config", &config]), 1);
    assert!(!node.exists(REPORT) && !node.exists(SENTINEL), "gone with the boot");
    let record = node.read("/run/aks-node-controller/provision.json").unwrap();
    assert!(record.contains("interrupted by SIGTERM before the scripts were started"), "{record}");
}

#[test]
fn wait_that_cannot_watch_reports_the_cause() {
    for (operation, expected) in [
        ("inotify", "failed to create watcher: input/output error"),
        ("watch", "failed to watch directory: input/output error"),
        (
            "mkdir",
            "failed to create directory /opt/azure/containers: mkdir /opt/azure/containers: input/output error",
        ),
    ] {
        let node = Node::with_script("");
        let mut world = Faulty::new(&node.root(), move |op, path| {
            (op == operation && !path.ends_with("log/azure") && !path.ends_with("events"))
                .then_some(EIO)
        });
        assert_eq!(world.run(&["provision-wait"]), 1);
        assert!(text(&world.err).contains(expected), "{}", text(&world.err));
        assert_eq!(text(&world.out), "\n");
    }
}

#[test]
fn stale_report_is_replaced_only_without_sentinel() {
    let node = Node::with_script("exit 50");
    let old = r#"{"ExitCode":"9"}"#;
    node.write(REPORT, old);
    node.write(SENTINEL, "");
    // Each in a separate process: two runs in this one could hold each other's lock in a child
    // that another test is just about to start.
    let config = node.write_typed("config.json", CONFIG);
    let provision = || node.run(&["provision", "--provision-config", &config]).status.code();
    assert_eq!(provision(), Some(9));
    assert_eq!(node.read(REPORT).unwrap(), old, "a node that is complete is not touched");
    std::fs::remove_file(node.at(SENTINEL)).unwrap();
    assert_eq!(provision(), Some(50));
    assert_eq!(report(&node)["ExitCode"], "50");
    assert_eq!(node.read("/var/log/azure/aks/provision.json.previous").unwrap(), old);
}

/// A disk that takes no more, but for the run directory, which is in memory.
fn full_disk(operation: &str, path: &Path) -> Option<i32> {
    let is_ours = ["provision.json", "provision.complete"]
        .iter()
        .any(|name| path.to_string_lossy().contains(name));
    let is_in_memory = path.to_string_lossy().contains("/run/aks-node-controller");
    (operation == "write" && is_ours && !is_in_memory).then_some(ENOSPC)
}

mod slow {
    use super::*;

    #[test]
    fn report_survives_a_full_disk_in_the_run_directory() {
        // Scripts that leave nothing, and scripts whose own report was cut short.
        let torn = "cd \"$(dirname \"$0\")\"; mkdir -p ../../../var/log/azure/aks; \
                    : > ../../../var/log/azure/aks/provision.json; touch provision.complete";
        for leave in ["true", torn] {
            let node = Node::with_script(&format!("echo gone wrong; {leave}; exit 50"));
            assert_eq!(provision(&node, full_disk).0, 50);
            let output = node.run(&["provision-wait"]);
            assert_eq!(output.status.code(), Some(50), "{}", text(&output.stderr));
            let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(printed["Error"], "exit status 50", "{leave}");
            assert!(printed["Output"].as_str().unwrap().starts_with("gone wrong\n"), "{printed}");
            // Without its report a sentinel would be taken for a success by the next boot.
            assert_eq!(node.exists(SENTINEL), leave == torn);
        }
    }
}
