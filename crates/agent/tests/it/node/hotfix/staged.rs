//! The agent of a binary hotfix: refused, staged, or left by an earlier boot. Cases 44 and 51.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use mooring_agent::world::{ChildStatus, ToolEnd};

use super::download::{BINARY, installing, node_with, tooled, ubuntu};
use super::program::{foreign, printing};
use super::{AGENT, HOTFIX_AGENT, OWN, POINTER, events, left_over, logged, world};
use crate::support::{REPORT, SENTINEL, text, write_program};

#[test]
fn unexpected_agent_is_not_staged_44() {
    let mut truncated = printing("202604.01.1\n");
    truncated.truncate(100);
    for (packaged, why) in [
        (None, "no such file or directory"),
        (Some(b"!<arch>\ndebian-binary".to_vec()), "not an ELF program"),
        (Some(b"#!/bin/sh\necho 202604.01.1\n".to_vec()), "not an ELF program"),
        (Some(foreign("202604.01.1\n")), "made for riscv"),
        (Some(truncated), "cut short"),
        (Some(printing("202604.01.10\n")), "is of version `202604.01.10`, not 202604.01.1"),
        (Some(printing("")), "is of version ``"),
        // One byte above the limit.
        (Some(vec![0; (64 << 20) + 1]), "67108864"),
    ] {
        let node = ubuntu(BINARY);
        let (mut world, _) = installing(&node, packaged);
        assert_eq!(world.run_as(OWN, &["download-hotfix"]), 1, "{why}");
        assert!(text(&world.err).contains(why), "{why}: {}", text(&world.err));
        assert!(!node.exists(HOTFIX_AGENT) && left_over(&node).is_empty(), "{why}");
    }
    // Without the image's agent the mode is not known.
    let node = ubuntu(BINARY);
    fs::remove_file(node.at(AGENT)).unwrap();
    let (mut world, _) = installing(&node, Some(printing("202604.01.1\n")));
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 1);
    assert!(!node.exists(HOTFIX_AGENT));
}

#[test]
fn hotfix_agent_without_pointer_is_reported_51() {
    let node = node_with("");
    fs::remove_file(node.at(POINTER)).unwrap();
    write_program(&node.at(HOTFIX_AGENT), "#!/bin/sh\n", 0o755);
    node.write(REPORT, r#"{"ExitCode":"0","Output":""}"#);
    node.write(SENTINEL, "");
    let mut world = world(&node, |_, _| None);
    assert_eq!(world.run_as(OWN, &["provision-wait"]), 0);
    let state = "binary=unknown version (hotfix) scripts=image";
    let report: serde_json::Value = serde_json::from_slice(&world.out).unwrap();
    assert_eq!(report["Hotfix"], state);
    assert_eq!(events(&node, "Hotfix"), [("Informational".to_owned(), format!("hotfix {state}"))]);
    assert!(logged(&node).contains(&"INFO hotfix in effect".to_owned()));
    let mut world = super::world(&node, |_, _| None);
    world.run_as(OWN, &["preflight"]);
    assert!(text(&world.out).contains("provisions this node instead of the image's agent"));
    // The launcher passes over one that it cannot run.
    fs::set_permissions(node.at(HOTFIX_AGENT), fs::Permissions::from_mode(0o644)).unwrap();
    let mut world = super::world(&node, |_, _| None);
    assert_eq!(world.run_as(OWN, &["provision-wait"]), 0);
    let report: serde_json::Value = serde_json::from_slice(&world.out).unwrap();
    assert_eq!(report.get("Hotfix"), None, "{report}");
}

#[test]
fn staged_agent_is_named_with_its_version_51() {
    let node = ubuntu(BINARY);
    let (mut world, _) = installing(&node, Some(printing("202604.01.1\n")));
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 0);
    node.write(REPORT, r#"{"ExitCode":"0","Output":""}"#);
    node.write(SENTINEL, "");
    let mut world = super::world(&node, |_, _| None);
    assert_eq!(world.run_as(OWN, &["provision-wait"]), 0);
    let report: serde_json::Value = serde_json::from_slice(&world.out).unwrap();
    assert_eq!(report["Hotfix"], "binary=202604.01.1 (hotfix) scripts=image");
}

#[test]
fn output_of_a_package_manager_is_masked_and_cut() {
    let node = ubuntu(BINARY);
    let (mut world, _) = tooled(&node, |_| (0, Some(0)));
    world.tools = Some(Box::new(|_| {
        let noise = "x".repeat(2000);
        let output = format!("{noise} Err https://user:canary-password@proxy/deb E: the end");
        let status = Some(ChildStatus::Exited(100));
        (Duration::from_secs(1), ToolEnd { status, output: output.into_bytes() })
    }));
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 100);
    let message = events(&node, "DownloadHotfix").remove(0).1;
    assert!(message.ends_with("@proxy/deb E: the end"), "{message}");
    assert!(message.len() < 1000, "the end is enough");
    assert!(!format!("{message}{}", text(&world.err)).contains("canary"), "{message}");
    assert!(!node.files().values().any(|content| text(content).contains("canary")));
}
