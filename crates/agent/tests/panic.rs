//! A panic is a failure with a report. In a separate binary, because the hook is process-wide.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and sees the real clock and disk"
)]

#[allow(dead_code, reason = "this test needs only a part of it")]
#[path = "node/fault_injection.rs"]
mod fault_injection;
#[allow(dead_code, reason = "this test needs only a part of it")]
#[path = "node/support.rs"]
mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use fault_injection::Faulty;
use support::{Node, REPORT, SENTINEL};

#[test]
fn panic_is_a_failure_with_location_but_without_text() {
    let node = Node::with_script("exit 0");
    let config = node.write_typed("config.json", r#"{"version": "v1"}"#);
    let mut world = Faulty::new(&node.root(), |operation, _| {
        assert!(operation != "probe", "a text that may quote hunter2");
        None
    });
    let words = ["provision", "--provision-config", &config];
    assert!(catch_unwind(AssertUnwindSafe(|| world.run(&words))).is_err());
    // From here on a failure of this test would be silent.
    let _ = std::panic::take_hook();
    let report: serde_json::Value = serde_json::from_str(&node.read(REPORT).unwrap()).unwrap();
    assert_eq!(report["ExitCode"], "240");
    let error = report["Error"].as_str().unwrap();
    assert!(
        error.starts_with("panic during provisioning at ") && error.contains("panic.rs:"),
        "{error}"
    );
    assert!(!error.contains("hunter2"));
    assert!(node.exists(SENTINEL));
}
