//! Processes that are killed, that outlive their parent, that come twice.

use std::process::{Child, Command};

use crate::support::{LOG, Node, REPORT, SENTINEL, end_of, eventually, text};

const RUN_RECORD: &str = "/run/aks-node-controller/provision.json";

fn provision(node: &Node, script: &str) -> Child {
    let script = node.write_typed("nbc.sh", script);
    node.start(&["provision", "--nbc-cmd", &script])
}

fn report(node: &Node) -> serde_json::Value {
    serde_json::from_str(&node.read(REPORT).expect("a report")).expect("whole JSON")
}

#[test]
fn last_line_of_a_leftover_process_is_kept() {
    let node = Node::with_script("");
    let provision = provision(&node, "(sleep 0.3; echo late) & exit 7");
    end_of(provision);
    assert_eq!(report(&node)["Output"], "late\n\n");
}

#[test]
fn a_second_provision_names_the_first_and_writes_no_result() {
    let node = Node::with_script("");
    let mut first = provision(&node, "touch \"$0.ready\"; sleep 60");
    eventually("the first's start", || node.typed("nbc.sh.ready").exists());
    let second = node.run(&["provision", "--nbc-cmd", node.typed("nbc.sh").to_str().unwrap()]);
    assert_eq!(second.status.code(), Some(1));
    let expected = format!("another provision is already running (pid {})", first.id());
    assert!(text(&second.stderr).contains(&expected), "{}", text(&second.stderr));
    // A wrong command line does not disturb it, either.
    assert_eq!(node.run(&["provision", "--nosuch"]).status.code(), Some(1));
    assert!(!node.exists(REPORT) && !node.exists(SENTINEL));
    first.kill().unwrap();
    first.wait().unwrap();
    // No process provisions now, so a wait gets a result.
    assert_eq!(node.run(&["provision", "--nosuch"]).status.code(), Some(1));
    assert!(node.exists(REPORT) && node.exists(SENTINEL));
}

#[test]
fn a_provision_that_is_killed_does_not_leave_others_waiting() {
    let node = Node::with_script("");
    let wait = node.start(&["provision-wait"]);
    eventually("the wait's start", || {
        node.read(LOG).is_some_and(|log| log.contains("ProvisionWait"))
    });
    // The scripts end with their agent.
    let record = format!("$AKS_NODE_ROOT{RUN_RECORD}");
    let script = format!("until grep -q scripts..{{ \"{record}\"; do :; done; kill -KILL $PPID $$");
    let mut provision = provision(&node, &script);
    let pid = provision.id();
    provision.wait().unwrap();
    let output = end_of(wait);
    assert_eq!(output.status.code(), Some(240));
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["ExitCode"], "240");
    let expected = format!(
        "provision (pid {pid}) ended without leaving a result; the scripts that it had started (pid "
    );
    assert!(printed["Error"].as_str().unwrap().starts_with(&expected), "{printed}");
    assert!(printed["Diagnosis"].as_str().unwrap().starts_with("NodeAgentKilled "), "{printed}");
    assert!(!node.exists(SENTINEL), "nothing is decided for a later attempt");
}

#[test]
fn success_without_a_sentinel_is_not_a_failed_start() {
    let node = Node::with_script("");
    let ended = end_of(provision(&node, "echo done; exit 0"));
    assert_eq!(ended.status.code(), Some(0));
    let output = node.run(&["provision-wait"]);
    assert_eq!(output.status.code(), Some(240), "{}", text(&output.stderr));
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(printed["Diagnosis"].as_str().unwrap().starts_with("SentinelMissing "), "{printed}");
    assert!(!printed.to_string().contains("before the image"), "{printed}");
}

#[test]
fn process_of_another_boot_is_not_the_recorded_one() {
    // Number and start time are those of a process that lives; only the boot differs.
    let fields = std::fs::read_to_string("/proc/self/stat").unwrap();
    let start = fields.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(19).unwrap();
    // A wrong command line and a dry run leave a result unless a process that provisions lives.
    let wrong = &["provision", "--nosuch"][..];
    let dry = &["provision", "--dry-run", "--provision-config", "/nosuch"];
    for (boot, is_live) in [(boot_id(), true), ("another".to_owned(), false)] {
        for words in [wrong, dry] {
            let node = Node::with_script("");
            let pid = std::process::id();
            let record =
                format!(r#"{{"agent":{{"pid":{pid},"startTime":{start}}},"bootId":"{boot}"}}"#);
            node.write(RUN_RECORD, record);
            assert_eq!(node.run(words).status.code(), Some(1));
            assert_eq!(node.exists(REPORT), !is_live, "{boot} {words:?}");
            assert_eq!(node.exists(SENTINEL), !is_live, "{boot} {words:?}");
        }
    }
}

fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().to_owned()
}

#[test]
fn a_wait_with_a_deadline_ends() {
    let node = Node::with_script("");
    let output = node.run(&["provision-wait", "--timeout=100ms"]);
    assert_eq!(output.status.code(), Some(124));
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["Error"], "deadline exceeded: no result after 0.1 s");
    let diagnosis = printed["Diagnosis"].as_str().unwrap();
    assert!(diagnosis.starts_with("WaitTimedOut "), "{diagnosis}");
    assert!(!node.exists(SENTINEL) && !node.exists(REPORT));
}

#[test]
fn a_wait_is_one_sleeping_thread() {
    let node = Node::with_script("");
    let mut wait = node.start(&["provision-wait"]);
    let status =
        || std::fs::read_to_string(format!("/proc/{}/status", wait.id())).unwrap_or_default();
    eventually("sleep", || status().contains("State:\tS"));
    assert!(status().contains("Threads:\t1\n"), "{}", status());
    wait.kill().unwrap();
    wait.wait().unwrap();
}

#[test]
fn a_sentinel_that_is_renamed_or_linked_into_place_counts() {
    for how in ["mv", "ln", "ln -s"] {
        let node = Node::with_script("");
        node.write(REPORT, r#"{"ExitCode":"0"}"#);
        let other = node.at("/opt/azure/containers/other");
        node.write("/opt/azure/containers/other", "");
        let wait = node.start(&["provision-wait"]);
        eventually("the wait's start", || {
            node.read(LOG).is_some_and(|log| log.contains("started"))
        });
        let command = format!("{how} '{}' '{}'", other.display(), node.at(SENTINEL).display());
        assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
        assert_eq!(end_of(wait).status.code(), Some(0), "{how}");
    }
}

#[test]
fn a_report_that_is_too_long_for_the_extension_is_fitted() {
    let node = Node::with_script("");
    let long =
        format!(r#"{{"ExitCode":"50","Output":"{}the end","Error":""}}"#, "<x>".repeat(3000));
    node.write(REPORT, &long);
    node.write(SENTINEL, "");
    let output = node.run(&["provision-wait"]);
    assert_eq!(output.status.code(), Some(50));
    assert!(output.stdout.len() <= 4096, "{}", output.stdout.len());
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["ExitCode"], "50");
    assert!(printed["Output"].as_str().unwrap().ends_with("<x>the end"));
    assert_eq!(node.read(REPORT).unwrap(), long, "the file is the scripts'");
}

#[test]
fn report_of_4096_bytes_is_printed_whole_and_one_of_4097_is_cut() {
    let printed = |length: usize| {
        let node = Node::with_script("");
        let output = "x".repeat(length);
        node.write(REPORT, format!(r#"{{"ExitCode":"0","Output":"{output}","Error":""}}"#));
        node.write(SENTINEL, "");
        let output = node.run(&["provision-wait"]);
        assert_eq!(output.status.code(), Some(0));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.stdout.len(), report["Output"].as_str().unwrap().len())
    };
    let frame = printed(0).0;
    let whole = 4096 - frame;
    assert_eq!(printed(whole), (4096, whole));
    assert_eq!(printed(whole + 1), (4096, whole));
}

mod slow {
    use super::*;

    #[test]
    fn leftover_process_with_open_output_does_not_block_result() {
        let node = Node::with_script("");
        let provision = provision(&node, "echo before; sleep 300 & exit 7");
        let output = end_of(provision);
        assert_eq!(output.status.code(), Some(7));
        assert_eq!(report(&node)["Output"], "before\n\n");
        assert!(text(&output.stderr).contains("keeps their output open"));
    }

    #[test]
    fn leftover_process_that_keeps_printing_does_not_block_result() {
        let node = Node::with_script("");
        let output = end_of(provision(&node, "yes & exit 7"));
        assert_eq!(output.status.code(), Some(7));
        assert!(text(&output.stderr).contains("keeps their output open"));
    }

    #[test]
    fn memory_does_not_grow_with_what_the_scripts_print() {
        let node = Node::with_script("");
        // 16 MiB of output; the report keeps its end.
        let provision =
            provision(&node, "head -c 16777216 /dev/zero | tr '\\0' x; echo; echo the end; exit 3");
        let pid = provision.id();
        let mut peak = 0;
        let output = std::thread::scope(|scope| {
            let reader = scope.spawn(|| end_of(provision));
            while !reader.is_finished() {
                let status =
                    std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
                let line = status.lines().find(|line| line.starts_with("VmHWM:"));
                let kib =
                    line.and_then(|line| line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok());
                peak = peak.max(kib.unwrap_or(0));
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            reader.join().unwrap()
        });
        assert_eq!(output.stdout.len(), 16_777_216 + "\nthe end\n".len());
        let kept = report(&node)["Output"].as_str().unwrap().to_owned();
        assert!(kept.ends_with("x\nthe end\n\n") && kept.len() < 20_000, "{} bytes", kept.len());
        assert!(peak > 0 && peak < 20_000, "{peak} KiB");
    }

    #[test]
    fn a_record_of_a_number_used_again_is_of_a_dead_process() {
        let node = Node::with_script("");
        let record = format!(
            r#"{{"agent":{{"pid":{},"startTime":1}},"bootId":"{}"}}"#,
            std::process::id(),
            boot_id()
        );
        node.write(RUN_RECORD, record);
        let output = node.run(&["provision-wait"]);
        assert_eq!(output.status.code(), Some(240), "{}", text(&output.stderr));
        assert!(
            text(&output.stdout).contains("no start of the scripts is recorded"),
            "{}",
            text(&output.stdout)
        );
    }
}
