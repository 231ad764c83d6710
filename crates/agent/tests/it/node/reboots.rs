//! Interrupted runs, and the next boot. A reboot is modeled by clearing the run directory, which is a tmpfs on a
//! node.

use std::fs;
use std::process::{Child, Command, Output};

use mooring_agent::world::{Host, World as _};

use crate::fault_injection::{EIO, Faulty};
use crate::support::{LOG, Node, REPORT, SENTINEL, end_of, eventually, signal, text};

const START: &str = include_str!("../../fixtures/provision_start.sh");
const CONFIG: &str = r#"{"version": "v1"}"#;
const RUN_RECORD: &str = "/run/aks-node-controller/provision.json";
const PREVIOUS: &str = "/var/log/azure/aks/provision.json.previous";

/// A tree as real scripts make it: a time limit, a background job, and a job in another session whose parent has ended.
const TREE: &str = r#"echo working on it
sleep 600 & echo $! >> "$PIDS"
(setsid sleep 601 & echo $! >> "$PIDS")
echo $$ $PPID >> "$PIDS"
: > "$PIDS.ready"
wait"#;

fn start(node: &Node, work: &str) -> Child {
    let config = node.write_typed("config.json", CONFIG);
    let words = ["provision", "--provision-config", &config];
    node.command(&words).env("WORK", work).env("PIDS", node.typed("pids")).spawn().unwrap()
}

fn provision(node: &Node, work: &str) -> Output {
    end_of(start(node, work))
}

/// Starts a run and waits until its work is in the middle.
fn start_tree(node: &Node) -> Child {
    let provision = start(node, TREE);
    eventually("the work's start", || node.typed("pids.ready").exists());
    provision
}

fn reboot(node: &Node) {
    let _ = fs::remove_dir_all(node.at("/run"));
}

fn wait(node: &Node) -> (Option<i32>, serde_json::Value) {
    let output = node.run(&["provision-wait"]);
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)));
    (output.status.code(), report)
}

/// The processes of the tree that still run.
fn still_running(node: &Node) -> Vec<String> {
    let pids = fs::read_to_string(node.typed("pids")).unwrap();
    let runs = |pid: &&str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    };
    pids.split_ascii_whitespace().filter(runs).map(str::to_owned).collect()
}

fn kill_all(node: &Node) {
    for pid in still_running(node) {
        let _ = Command::new("kill").args(["-KILL", &pid]).status();
    }
}

/// Kills the agent and its scripts, the start script before its work, so that it does not continue and write a result.
fn cut_power(node: &Node, mut run: Child) {
    run.kill().unwrap();
    run.wait().unwrap();
    let record: serde_json::Value = serde_json::from_str(&node.read(RUN_RECORD).unwrap()).unwrap();
    let scripts = record["scripts"]["pid"].to_string();
    assert!(Command::new("kill").args(["-KILL", &scripts]).status().unwrap().success());
    kill_all(node);
}

#[test]
fn wait_of_the_same_boot_ends_when_the_run_is_stopped() {
    let node = Node::with_script(START);
    let wait = node.start(&["provision-wait"]);
    let run = start_tree(&node);
    signal(&run, "-TERM");
    end_of(run);
    let output = end_of(wait);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_ne!(output.status.code(), Some(0));
    assert!(report["Error"].as_str().unwrap().contains("interrupted by SIGTERM"), "{report}");
    let diagnosis = report["Diagnosis"].as_str().unwrap();
    assert!(diagnosis.starts_with("ScriptInterrupted") && diagnosis.contains("agent was stopped"));
}

#[test]
fn result_of_a_run_that_ends_during_a_check_is_found() {
    let node = Node::new();
    let path = node.at(RUN_RECORD);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut host = Host::default();
    let start = host.process_start(std::process::id()).unwrap();
    let boot_id = host.boot_id().unwrap_or_default();
    let mut record = serde_json::json!({"agent": {"pid": std::process::id(), "startTime": start}, "bootId": boot_id});
    fs::write(&path, record.to_string()).unwrap();
    record["report"] = r#"{"ExitCode":"143","Error":"interrupted by SIGTERM"}"#.into();
    let ended = record.to_string();
    let mut lookups = 0;
    let mut world =
        Faulty::new(&node.root(), |operation, _| (operation == "on_panic").then_some(EIO));
    world.is_alive = Some(Box::new(move || {
        lookups += 1;
        // The first lookup finds it, and a change wakes the wait; then it writes its result and ends.
        let written = if lookups == 1 { path.with_extension("new") } else { path.clone() };
        fs::write(written, &ended).unwrap();
        lookups == 1
    }));
    assert_eq!(world.run(&["provision-wait"]), 143);
    assert!(text(&world.out).contains("interrupted by SIGTERM"), "{}", text(&world.out));
}

#[test]
fn failed_boot_stays_failed_after_a_reboot() {
    let node = Node::with_script(START);
    assert_eq!(provision(&node, "echo no way out; exit 50").status.code(), Some(50));
    let failed = node.read(REPORT).unwrap();
    reboot(&node);
    let again = provision(&node, "touch \"$PIDS\"");
    assert_eq!(again.status.code(), Some(50), "{}", text(&again.stderr));
    assert!(text(&again.stderr).contains("remove /opt/azure/containers/provision.complete"));
    assert_eq!(node.read(REPORT).unwrap(), failed, "the failed report is kept");
    let log = node.read("/var/log/azure/cluster-provision.log").unwrap();
    assert!(!log.contains("Already ran"), "no script runs only to report success");
    assert_eq!(wait(&node).0, Some(50));
    // An operator tries again on purpose.
    fs::remove_file(node.at(SENTINEL)).unwrap();
    assert_eq!(provision(&node, "touch \"$PIDS\"").status.code(), Some(0));
    assert!(node.typed("pids").exists());
    assert_eq!(node.read(PREVIOUS).unwrap(), failed, "and keeps the failed report");
    assert_eq!(wait(&node).0, Some(0));
}

#[test]
fn repeated_extension_returns_the_code_of_the_report() {
    // Azure deletes the extension of a failed node, and creates it again on the same node.
    for (work, code) in [("exit 50", 50), ("true", 0)] {
        let node = Node::with_script(START);
        assert_eq!(provision(&node, work).status.code(), Some(code));
        let first = wait(&node);
        assert_eq!(first.0, Some(code));
        assert_eq!(wait(&node), first);
        // The launcher as well, if something starts it again.
        assert_eq!(provision(&node, "true").status.code(), Some(code));
        assert_eq!(wait(&node).0, Some(code));
    }
}

#[test]
fn sentinel_without_a_readable_report_is_a_failure() {
    for report in [None, Some(""), Some("{\"ExitCode\"")] {
        let node = Node::with_script(START);
        node.write(SENTINEL, "");
        if let Some(report) = report {
            node.write(REPORT, report);
        }
        let output = provision(&node, "touch \"$PIDS\"");
        assert_eq!(output.status.code(), Some(240), "{report:?}: {}", text(&output.stderr));
        assert_eq!(node.read(REPORT).as_deref(), report, "nothing is overwritten");
        let (code, printed) = wait(&node);
        assert_eq!(code, Some(240));
        assert!(printed["Error"].as_str().unwrap().contains("no readable report"), "{printed}");
    }
}

#[test]
fn node_that_was_bootstrapped_stays_so_after_a_reboot() {
    let node = Node::with_script(START);
    assert_eq!(provision(&node, "true").status.code(), Some(0));
    reboot(&node);
    assert_eq!(provision(&node, "exit 50").status.code(), Some(0));
    assert_eq!(wait(&node).0, Some(0));
}

#[test]
fn power_loss_is_provisioned_again_by_the_next_boot() {
    let node = Node::with_script(START);
    cut_power(&node, start_tree(&node));
    reboot(&node);
    assert_eq!(provision(&node, "echo provisioned").status.code(), Some(0));
    assert_eq!(wait(&node).0, Some(0));
}

#[test]
fn scripts_that_outlive_a_killed_agent_are_waited_for() {
    // Printing would end them: the pipe has no reader.
    let node = Node::with_script(&START.replace("| tee", ">"));
    let wait = node.start(&["provision-wait"]);
    let work = "touch \"$PIDS.ready\"; while [ ! -e \"$PIDS.go\" ]; do sleep 0.05; done";
    let mut run = start(&node, work);
    eventually("the work's start", || node.typed("pids.ready").exists());
    run.kill().unwrap();
    run.wait().unwrap();
    eventually("the wait's warning", || {
        node.read(LOG).is_some_and(|log| log.contains("its scripts still run"))
    });
    fs::write(node.typed("pids.go"), "").unwrap();
    let output = end_of(wait);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr).matches("its scripts still run").count(), 1);
}

#[test]
fn wait_started_with_the_next_run_returns_its_result() {
    let node = Node::with_script(START);
    // A run of this boot was killed; the next one begins when the wait has read the record.
    cut_power(&node, start_tree(&node));
    let wait = node.start(&["provision-wait"]);
    eventually("the wait's start", || {
        node.read(LOG).is_some_and(|log| log.contains("ProvisionWait"))
    });
    assert_eq!(provision(&node, "true").status.code(), Some(0));
    let output = end_of(wait);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
}

mod slow {
    use super::*;

    #[test]
    fn stop_in_the_middle_is_provisioned_again_by_the_next_boot() {
        let node = Node::with_script(START);
        let run = start_tree(&node);
        signal(&run, "-TERM");
        end_of(run);
        assert!(!node.exists(SENTINEL) && !node.exists(REPORT), "nothing outlives the boot");
        // Until then, a wait gets the correct result.
        let (code, report) = wait(&node);
        assert_ne!(code, Some(0));
        assert!(report["Error"].as_str().unwrap().contains("interrupted by SIGTERM"), "{report}");
        reboot(&node);
        assert_eq!(provision(&node, "echo provisioned").status.code(), Some(0));
        assert_eq!(wait(&node).0, Some(0));
        let log = node.read("/var/log/azure/cluster-provision.log").unwrap();
        assert!(log.ends_with("provisioned\n"), "{log}");
    }

    #[test]
    fn stop_reaches_every_process_of_the_scripts() {
        for (name, signal_name) in [("-TERM", "SIGTERM"), ("-INT", "SIGINT")] {
            let node = Node::with_script(START);
            let run = start_tree(&node);
            signal(&run, name);
            end_of(run);
            let left = still_running(&node);
            kill_all(&node);
            assert_eq!(left, [""; 0], "{signal_name}: processes run on");
            let (_, report) = wait(&node);
            let error = report["Error"].as_str().unwrap();
            // The start script, `timeout`, the work and its two jobs.
            let expected = format!("interrupted by {signal_name}; stopped 5 processes");
            assert!(error.contains(&expected), "{error}");
            let output = report["Output"].as_str().unwrap();
            assert!(output.contains("working on it\n"), "{signal_name}: {output}");
        }
    }

    #[test]
    fn processes_that_ignore_the_stop_are_killed_and_counted() {
        let node = Node::with_script(START);
        let run = start(
            &node,
            r#"setsid bash -c 'trap "" TERM; echo $$ > "$PIDS"; : > "$PIDS.ready"; while :; do sleep 1; done' & wait"#,
        );
        eventually("the work's start", || node.typed("pids.ready").exists());
        signal(&run, "-TERM");
        end_of(run);
        assert_eq!(still_running(&node), [""; 0]);
        let (_, report) = wait(&node);
        let error = report["Error"].as_str().unwrap();
        assert!(error.contains(" by SIGKILL"), "{error}");
    }
}
