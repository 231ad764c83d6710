//! A panic is a failure with a report. The hook is process-wide, so that the agent panics in another process.

use std::path::Path;
use std::process::{Command, Output};

use crate::fault_injection::Faulty;
use crate::support::{Node, REPORT, SENTINEL};

/// The process that [`panic_at`] starts.
#[test]
#[ignore = "ends its process"]
fn panicking() {
    let variable = |name: &str| std::env::var(name).expect("run by another test");
    let (at, file) = (variable("PANICKING_AT"), variable("PANICKING_FILE"));
    let root = variable("PANICKING_ROOT");
    let mut world = Faulty::new(Path::new(&root), move |operation, path| {
        let is_there = operation == at && path.ends_with(&file);
        assert!(!is_there, "a text that may quote hunter2");
        None
    });
    world.run(&variable("PANICKING_COMMAND").split(' ').collect::<Vec<_>>());
}

/// Runs a command that panics in an operation on a file of this name, or on any file.
pub(super) fn panic_at(node: &Node, operation: &str, file: &str, command: &str) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "node::panics::panicking", "--ignored", "--nocapture"])
        .env("PANICKING_AT", operation)
        .env("PANICKING_FILE", file)
        .env("PANICKING_ROOT", node.root())
        .env("PANICKING_COMMAND", command)
        .output()
        .unwrap()
}

#[test]
fn panic_is_a_failure_with_location_but_without_text() {
    let node = Node::with_script("exit 0");
    let config = node.write_typed("config.json", r#"{"version": "v1"}"#);
    let output = panic_at(&node, "probe", "", &format!("provision --provision-config {config}"));
    assert!(!output.status.success());
    let report: serde_json::Value = serde_json::from_str(&node.read(REPORT).unwrap()).unwrap();
    assert_eq!(report["ExitCode"], "240");
    let error = report["Error"].as_str().unwrap();
    assert!(
        error.starts_with("panic during provisioning at ") && error.contains("panics.rs:"),
        "{error}"
    );
    assert!(!error.contains("hunter2"));
    assert!(node.exists(SENTINEL));
}
