//! Case 50: `kill -9` before and within every operation, and a disk that is full at every operation.

use std::cell::Cell;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use mooring_agent::world::{ChildStatus, Tool, ToolEnd};

use super::program::printing;
use super::scripts::{are_new, custom_data, write_old_files};
use super::{
    AGENT, CONFIG, CUSTOM_DATA, HOTFIX_AGENT, OWN, POINTER, POLICY, RECORD, left_over, world,
};
use crate::fault_injection::{EIO, ENOSPC, Network};
use crate::support::{Node, text, write_program};

/// Operations that change something.
const CHANGES: [&str; 5] = ["mkdir", "write", "sync", "rename", "remove"];

fn is_change(operation: &str, path: &Path) -> bool {
    // Log, events and the record of the run are not the hotfix's.
    CHANGES.contains(&operation) && !path.to_string_lossy().contains("/var/log/")
}

/// The target of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Scripts,
    Pointer,
    Binary,
}

const OLD_POINTER: &str = r#"{"version":"1","hotfixes":{}}"#;
const NEW_POINTER: &str = r#"{"version":"1","hotfixes":{"202604.01":"202604.01.1"}}"#;

fn node_for(change: Change) -> Node {
    let node = Node::with_script("exit 0");
    write_old_files(&node);
    match change {
        Change::Scripts => {
            node.write(POINTER, r#"{"scripts_version":"202604.01.1"}"#);
            node.write(CUSTOM_DATA, custom_data(None));
        }
        Change::Pointer => {
            node.write(POINTER, OLD_POINTER);
            // No service is reached, so the map of last resort is staged.
            node.write(CONFIG, r#"{"version":"v1","hotfixes":{"202604.01":"202604.01.1"}}"#);
        }
        Change::Binary => {
            node.write(POINTER, r#"{"version":"202604.01.1"}"#);
            node.write(POLICY, "full");
            node.write("/etc/os-release", "ID=mariner\n");
            write_program(&node.at(AGENT), "", 0o755);
            node.write(HOTFIX_AGENT, "old");
            node.write("/usr/bin/aks-node-controller", printing("202604.01.1\n"));
        }
    }
    node
}

fn command(change: Change) -> &'static str {
    if change == Change::Pointer { "check-hotfix" } else { "download-hotfix" }
}

/// Old or new, never anything else; true for new.
fn is_changed(node: &Node, change: Change) -> bool {
    match change {
        Change::Scripts => are_new(node),
        Change::Pointer => {
            let pointer = node.read(POINTER).unwrap();
            assert!([OLD_POINTER, NEW_POINTER].contains(&pointer.as_str()), "{pointer}");
            pointer == NEW_POINTER
        }
        Change::Binary => {
            let agent = std::fs::read(node.at(HOTFIX_AGENT)).unwrap();
            assert!(agent == b"old" || agent == printing("202604.01.1\n"));
            agent != b"old"
        }
    }
}

/// Provisions, which completes what was interrupted.
fn provision(node: &Node) {
    let config = node.write_typed("config.json", r#"{"version":"v1"}"#);
    let mut world = world(node, |_, _| None);
    assert_eq!(
        world.run_as(OWN, &["provision", "--provision-config", &config]),
        0,
        "{}",
        text(&world.err)
    );
}

/// The process that is killed: run by [`killed_at_every_operation`] only.
#[test]
#[ignore = "ends its process"]
fn victim() {
    let variable = |name: &str| std::env::var(name).expect("run by another test");
    let at: usize = variable("VICTIM_AT").parse().unwrap();
    let is_torn = variable("VICTIM_TORN") == "true";
    let root = variable("VICTIM_ROOT");
    let mut count = 0;
    let mut dies_next = false;
    let die = || {
        let own = std::process::id().to_string();
        assert!(Command::new("kill").args(["-9", &own]).status().unwrap().success());
        loop {
            std::thread::park();
        }
    };
    let mut world =
        crate::fault_injection::Faulty::new(Path::new(&root), move |operation, path| {
            if operation == "on_panic" {
                return Some(EIO);
            }
            if !is_change(operation, path) {
                return None;
            }
            if dies_next {
                die();
            }
            count += 1;
            if count == at + 1 {
                if !is_torn || operation != "write" {
                    die();
                }
                // Half of it is written, and that is the last that happens.
                dies_next = true;
                return Some(EIO);
            }
            None
        });
    world.tools = None;
    let code = world.run_as(OWN, &[&variable("VICTIM_COMMAND")]);
    assert_eq!(code, 0);
}

/// Runs the command and kills it; false if it came to its end.
fn kill(node: &Node, change: Change, at: usize, is_torn: bool) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "node::hotfix::kills::victim", "--ignored", "--nocapture"])
        .env("VICTIM_AT", at.to_string())
        .env("VICTIM_TORN", is_torn.to_string())
        .env("VICTIM_ROOT", node.root())
        .env("VICTIM_COMMAND", command(change))
        .env("PATH", path_with_tdnf(node))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let is_expected = output.status.success() || output.status.code().is_none();
    assert!(is_expected, "{}{}", text(&output.stdout), text(&output.stderr));
    output.status.code().is_none()
}

/// A search path on which `tdnf` succeeds.
fn path_with_tdnf(node: &Node) -> std::ffi::OsString {
    let tool = node.typed("tdnf");
    if !tool.exists() {
        write_program(&tool, "#!/bin/sh\nexit 0\n", 0o755);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| !folder.join("dnf").exists());
    std::env::join_paths([node.typed("")].into_iter().chain(folders)).unwrap()
}

fn killed_at_every_operation(change: Change) {
    for is_torn in [false, true] {
        let (mut old, mut new) = (0, 0);
        for at in 0.. {
            let node = node_for(change);
            let is_killed = kill(&node, change, at, is_torn);
            if change == Change::Scripts {
                let pointer = node.read(POINTER).unwrap();
                // Either command completes it, even without a request.
                if at % 2 == 0 {
                    provision(&node);
                } else {
                    node.write(POINTER, "{}");
                    assert_eq!(world(&node, |_, _| None).run_as(OWN, &["download-hotfix"]), 0);
                    node.write(POINTER, pointer);
                }
                let record = node.read(RECORD).unwrap_or_default();
                assert!(!record.contains("\"pending\":true"), "{record}");
            }
            if is_changed(&node, change) {
                new += 1;
            } else {
                old += 1;
            }
            if !is_killed {
                assert!(is_changed(&node, change), "it came to its end");
                assert_eq!(left_over(&node), [""; 0]);
                break;
            }
            // The next boot applies the hotfix.
            if change != Change::Binary {
                assert_eq!(world(&node, |_, _| None).run_as(OWN, &[command(change)]), 0);
                assert!(is_changed(&node, change));
                assert_eq!(left_over(&node), [""; 0]);
            }
        }
        assert!(old > 3 && new > 1, "{change:?}: {old} old, {new} new");
    }
}

/// Fails every operation in turn, once or from there on.
fn full_disk_at_every_operation(change: Change) {
    for lasts in [false, true] {
        let (mut old, mut new) = (0, 0);
        for failing in 0.. {
            let node = node_for(change);
            let count = Rc::new(Cell::new(0));
            let seen = Rc::clone(&count);
            let mut world = world(&node, move |operation, path| {
                // Removing a file always works.
                if !is_change(operation, path) || operation == "remove" {
                    return None;
                }
                seen.set(seen.get() + 1);
                let fails = if lasts {
                    // Exchanging names needs no space.
                    seen.get() > failing && operation != "rename"
                } else {
                    seen.get() == failing + 1
                };
                fails.then_some(ENOSPC)
            });
            if change == Change::Binary {
                let took = |_: &Tool<'_>| {
                    let status = Some(ChildStatus::Exited(0));
                    (Duration::from_secs(1), ToolEnd { status, output: Vec::new() })
                };
                world.tools = Some(Box::new(took));
                world.network = Some(Network::new(7, |_| unreachable!("no request")));
            }
            let code = world.run_as(OWN, &[command(change)]);
            let is_new = is_changed(&node, change);
            // Only a binary hotfix that is not taken is a failure of the command.
            let is_failed = change == Change::Binary && !is_new;
            assert_eq!(code, u8::from(is_failed), "{change:?} {failing}");
            if is_new {
                new += 1;
            } else {
                old += 1;
            }
            if change == Change::Scripts {
                provision(&node);
                let is_new = is_changed(&node, change);
                let record = node.read(RECORD).unwrap_or_default();
                assert!(!record.contains("\"pending\":true"), "{record}");
                let is_recorded = record.contains("\"scripts\":\"202604.01.1\"");
                assert_eq!(is_recorded, is_new, "{record}");
            }
            assert_eq!(left_over(&node), [""; 0], "{change:?} {failing}");
            if count.get() <= failing {
                break;
            }
        }
        assert!(old > 1 && new > 0, "{change:?}: {old} old, {new} new");
    }
}

#[test]
fn pointer_is_old_or_new_after_a_kill_at_any_operation() {
    killed_at_every_operation(Change::Pointer);
}

#[test]
fn full_disk_at_any_operation_leaves_an_old_or_new_pointer() {
    full_disk_at_every_operation(Change::Pointer);
}

mod slow {
    use super::*;

    #[test]
    fn scripts_are_old_or_new_after_a_kill_at_any_operation() {
        killed_at_every_operation(Change::Scripts);
    }

    #[test]
    fn agent_is_old_or_new_after_a_kill_at_any_operation() {
        killed_at_every_operation(Change::Binary);
    }

    #[test]
    fn full_disk_at_any_operation_leaves_old_or_new_files() {
        for change in [Change::Scripts, Change::Binary] {
            full_disk_at_every_operation(change);
        }
    }
}
