//! Scripts that a signal stopped, as the agent sees them: no process is signaled.

use mooring_agent::world::{ChildEnd, ChildStatus, Signal, Stopped};

use crate::fault_injection::{EIO, Faulty};
use crate::support::{Node, REPORT, SENTINEL, text};

const PREVIOUS: &str = "/var/log/azure/aks/provision.json.previous";
const RUN_RECORD: &str = "/run/aks-node-controller/provision.json";

/// Provisions with scripts that leave these results, and then seem to have ended so.
fn provision(node: &Node, leaves: &str, end: ChildEnd) -> (u8, String) {
    let script = format!(
        "cd \"$(dirname \"$0\")\"; mkdir -p ../../../var/log/azure/aks; \
         report() {{ echo \"{{\\\"ExitCode\\\":\\\"$1\\\"}}\" > ../../../var/log/azure/aks/provision.json; }}; \
         sentinel() {{ touch provision.complete; }}; {leaves}"
    );
    node.write(crate::support::START_SCRIPT, script);
    let config = node.write_typed("config.json", r#"{"version": "v1"}"#);
    let mut world =
        Faulty::new(&node.root(), |operation, _| (operation == "on_panic").then_some(EIO));
    world.end = Some(end);
    let exit_code = world.run(&["provision", "--provision-config", &config]);
    (exit_code, text(&world.err))
}

fn stopped(status: ChildStatus) -> ChildEnd {
    let stopped = Stopped { signal: Signal::Terminate, processes: 2, killed: 0, left: Vec::new() };
    ChildEnd { status, stopped: Some(stopped), output_left_open: false }
}

fn signaled(number: i32) -> ChildEnd {
    let status = ChildStatus::Signaled { number, core_dumped: false };
    ChildEnd { status, stopped: None, output_left_open: false }
}

#[test]
fn results_of_stopped_scripts_do_not_outlive_the_boot() {
    for (leaves, end, exit_code) in [
        ("report 143; sentinel", stopped(ChildStatus::Exited(143)), 143),
        ("sentinel", stopped(ChildStatus::Exited(0)), 143),
        ("report 0", stopped(ChildStatus::Exited(0)), 143),
        ("true", signaled(15), 255),
        ("true", signaled(2), 255),
    ] {
        let node = Node::with_script("");
        let (code, _) = provision(&node, leaves, end.clone());
        assert_eq!(code, exit_code, "{leaves}");
        assert!(!node.exists(SENTINEL), "{leaves}");
        assert_eq!(node.exists(PREVIOUS), leaves.contains("report 143"), "{leaves}");
        let record = node.read(RUN_RECORD).unwrap();
        let interrupted = "interrupted by SIGTERM; stopped 2 processes";
        assert_eq!(record.contains(interrupted), end.stopped.is_some(), "{record}");
    }
}

#[test]
fn killed_scripts_have_failed_for_later_boots_too() {
    let node = Node::with_script("");
    assert_eq!(provision(&node, "true", signaled(9)).0, 255);
    assert!(node.exists(SENTINEL));
    let report = node.read(REPORT).unwrap();
    assert!(report.contains("signal: killed") && report.contains("\"-1\""), "{report}");
}

#[test]
fn scripts_that_ended_before_the_stop_have_succeeded() {
    let node = Node::with_script("");
    let (code, log) = provision(&node, "report 0; sentinel", stopped(ChildStatus::Exited(0)));
    assert_eq!(code, 0, "{log}");
    assert!(log.contains("had ended with success before the stop"), "{log}");
    assert!(node.exists(SENTINEL) && node.exists(REPORT));
    // A reboot is stopped: the node remains bootstrapped.
    let (code, _) = provision(&node, "true", stopped(ChildStatus::Exited(143)));
    assert_eq!(code, 143);
    assert!(node.exists(SENTINEL) && node.exists(REPORT));
}
