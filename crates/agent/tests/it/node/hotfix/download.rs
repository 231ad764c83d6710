//! `download-hotfix`, which hotfix is taken: cases 6, 32 to 43, 49, 52 and 53.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::rc::Rc;
use std::time::Duration;

use mooring_agent::world::{ChildStatus, ToolEnd};

use super::program::printing;
use super::scripts::{are_new, custom_data, write_old_files};
use super::{
    AGENT, CUSTOM_DATA, HOTFIX_AGENT, OWN, POINTER, POLICY, events, left_over, logged, networked,
    response, world,
};
use crate::fault_injection::{EACCES, Faulty};
use crate::support::{Node, end_of, text, write_program};

pub(super) const PACKAGED: &str = "/usr/bin/aks-node-controller";
pub(super) const BINARY: &str = r#"{"version":"202604.01.1"}"#;

/// A node with this pointer, and the image's agent.
pub(super) fn node_with(pointer: &str) -> Node {
    let node = Node::with_script("cat /dev/null");
    node.write(POINTER, pointer);
    node.write(AGENT, "the image's agent");
    fs::set_permissions(node.at(AGENT), fs::Permissions::from_mode(0o755)).unwrap();
    node
}

/// An Ubuntu node that takes Microsoft's agent.
pub(super) fn ubuntu(pointer: &str) -> Node {
    let node = node_with(pointer);
    node.write(POLICY, "full\n");
    node.write("/etc/os-release", "NAME=\"Ubuntu\"\nID=ubuntu\n");
    node.write("/etc/apt/sources.list.d/microsoft-prod.list", "");
    node
}

/// The commands that were run.
pub(super) type Calls = Rc<RefCell<Vec<String>>>;

/// A world in which `end` determines the duration and the exit code of small programs.
pub(super) fn tooled(
    node: &Node,
    mut end: impl FnMut(&str) -> (u64, Option<i32>) + 'static,
) -> (Faulty, Calls) {
    let mut world = networked(node, |_| Ok(response(500, "")));
    let calls = Calls::default();
    let seen = Rc::clone(&calls);
    world.tools = Some(Box::new(move |tool| {
        let words: Vec<_> =
            tool.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let call = format!("{} {}", tool.program.display(), words.join(" "));
        assert!(tool.variables.contains(&("DEBIAN_FRONTEND", "noninteractive".into())));
        seen.borrow_mut().push(call.clone());
        let (seconds, code) = end(&call);
        let status = code.map(ChildStatus::Exited);
        (Duration::from_secs(seconds), ToolEnd { status, output: b"E: why".to_vec() })
    }));
    (world, calls)
}

/// A world in which the package brings this agent.
pub(super) fn installing(node: &Node, packaged: Option<Vec<u8>>) -> (Faulty, Calls) {
    let target = node.at(PACKAGED);
    tooled(node, move |call| {
        if let (true, Some(bytes)) = (call.contains(" install "), &packaged) {
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::write(&target, bytes).unwrap();
        }
        (1, Some(0))
    })
}

#[test]
fn pointer_without_request_runs_no_tool_32_33_35_36_37() {
    for (own, pointer) in [
        (OWN, None),
        (OWN, Some("")),
        (OWN, Some(" \n")),
        (OWN, Some("{}")),
        (OWN, Some("not json")),
        (OWN, Some("[]")),
        ("202604.01.1", Some(BINARY)),
        ("202604.01.2", Some(BINARY)),
        ("202605.01.0", Some(BINARY)),
        ("dev", Some(BINARY)),
        (OWN, Some(r#"{"version":"202604.01.1","hotfixes":{"202605.01":"202605.01.1"}}"#)),
        (OWN, Some(r#"{"hotfixes":{"202604.01":"202605.30.2"}}"#)),
        (OWN, Some(r#"{"version":"202604.01.1; rm -rf /"}"#)),
        (OWN, Some(r#"{"version":"--help"}"#)),
    ] {
        let node = ubuntu(pointer.unwrap_or_default());
        if pointer.is_none() {
            fs::remove_file(node.at(POINTER)).unwrap();
        }
        let (mut world, calls) = tooled(&node, |_| (0, Some(0)));
        assert_eq!(world.run_as(own, &["download-hotfix"]), 0, "{pointer:?}");
        assert_eq!(*calls.borrow(), [""; 0], "{own} {pointer:?}");
        assert_eq!(events(&node, "DownloadHotfix"), []);
        let is_warned = logged(&node).iter().any(|line| line.starts_with("WARN"));
        let is_odd = matches!(pointer, Some("not json" | "[]")) || own == "dev";
        let is_odd = is_odd || pointer.is_some_and(|pointer| pointer.contains("--"));
        let is_odd = is_odd || pointer.is_some_and(|pointer| pointer.contains(';'));
        assert_eq!(is_warned, is_odd, "{own} {pointer:?}");
    }
    // A pointer that cannot be read.
    let node = ubuntu(BINARY);
    let (mut world, calls) = tooled(&node, |_| (0, Some(0)));
    world.set_rule(|operation, path| {
        let is_pointer = operation == "open" && path.ends_with("aks-node-controller-hotfix.json");
        is_pointer.then_some(EACCES)
    });
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 0);
    assert_eq!(*calls.borrow(), [""; 0]);
    assert!(logged(&node).contains(&"WARN failed to read the hotfix pointer".to_owned()));
    // A directory in the pointer's place.
    let node = ubuntu("");
    fs::remove_file(node.at(POINTER)).unwrap();
    fs::create_dir(node.at(POINTER)).unwrap();
    let (mut world, calls) = tooled(&node, |_| (0, Some(0)));
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 0);
    assert_eq!(*calls.borrow(), [""; 0]);
    assert!(logged(&node).contains(&"WARN failed to read the hotfix pointer".to_owned()));
}

#[test]
fn package_is_installed_and_its_agent_staged_34_36() {
    for pointer in [
        BINARY,
        r#"{"version":"202604.01.9","hotfixes":{"202604.01":"202604.01.1"}}"#,
        r#"{"version":"v202604.01.1+x"}"#,
    ] {
        let node = ubuntu(pointer);
        let program = printing("202604.01.1\n");
        let (mut world, calls) = installing(&node, Some(program.clone()));
        assert_eq!(world.run_as(OWN, &["download-hotfix"]), 0, "{}", text(&world.err));
        assert_eq!(
            *calls.borrow(),
            [
                "dpkg --configure -a --force-confdef --force-confold",
                "apt-get update -o Dpkg::Options::=--force-confold -o \
                 Dir::Etc::sourcelist=/etc/apt/sources.list.d/microsoft-prod.list -o Dir::Etc::sourceparts=-",
                "apt-get install -y --allow-downgrades -o Dpkg::Options::=--force-confold \
                 aks-node-controller=202604.01.1-*",
            ]
        );
        assert_eq!(fs::read(node.at(HOTFIX_AGENT)).unwrap(), program);
        assert_eq!(node.mode(HOTFIX_AGENT), 0o755);
        assert_eq!(node.read(AGENT).unwrap(), "the image's agent");
        assert_eq!(left_over(&node), [""; 0]);
        let event =
            "download-hotfix policy=full current=202604.01.0 scripts=none binary=202604.01.1";
        assert_eq!(
            events(&node, "DownloadHotfix"),
            [("Informational".to_owned(), event.to_owned())]
        );
        let log = logged(&node);
        for line in
            ["INFO aks-node-controller hotfix download started", "INFO downloaded ANC hotfix"]
        {
            assert!(log.contains(&line.to_owned()), "{log:?}");
        }
    }
}

#[test]
fn package_manager_is_that_of_the_distribution_38_39_40() {
    let rpm = "install -y --refresh --allowerasing aks-node-controller-202604.01.1";
    for (id, with_dnf, called) in [
        ("ID=\"azurelinux\"", true, format!("dnf {rpm}")),
        ("ID=mariner", false, format!("tdnf {rpm}")),
    ] {
        let node = ubuntu(BINARY);
        node.write("/etc/os-release", format!("NAME=x\n{id}\n"));
        if with_dnf {
            write_program(&node.typed("dnf"), "#!/bin/sh\n", 0o755);
        }
        let (mut world, calls) = installing(&node, Some(printing("202604.01.1\n")));
        world.variables = vec![("PATH".into(), node.typed("").into_os_string())];
        assert_eq!(world.run_as(OWN, &["download-hotfix"]), 0, "{}", text(&world.err));
        assert_eq!(*calls.borrow(), [called]);
    }
    for os_release in [Some("ID=flatcar\n"), Some("NAME=x\n"), None] {
        let node = ubuntu(BINARY);
        match os_release {
            Some(text) => node.write("/etc/os-release", text),
            None => fs::remove_file(node.at("/etc/os-release")).unwrap(),
        }
        let (mut world, calls) = tooled(&node, |_| (0, Some(0)));
        assert_eq!(world.run_as(OWN, &["download-hotfix"]), 1);
        assert_eq!(*calls.borrow(), [""; 0]);
    }
    let node = ubuntu(BINARY);
    fs::rename(
        node.at("/etc/apt/sources.list.d/microsoft-prod.list"),
        node.at("/etc/apt/sources.list.d/microsoft-prod.sources"),
    )
    .unwrap();
    let (mut world, calls) = installing(&node, Some(printing("202604.01.1\n")));
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 0);
    assert!(calls.borrow()[1].contains("microsoft-prod.sources"));
    fs::remove_file(node.at("/etc/apt/sources.list.d/microsoft-prod.sources")).unwrap();
    let (mut world, calls) = tooled(&node, |_| (0, Some(0)));
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 1);
    assert_eq!(*calls.borrow(), [""; 0]);
    assert!(text(&world.err).contains("neither /etc/apt/sources.list.d/microsoft-prod.list nor "));
}

#[test]
fn failed_package_manager_is_retried_in_time_41_42_43() {
    let node = ubuntu(BINARY);
    fs::create_dir_all(node.at("/usr/bin")).unwrap();
    fs::write(node.at(PACKAGED), printing("202604.01.1\n")).unwrap();
    let mut failures = 2;
    let (mut world, calls) = tooled(&node, move |call| {
        let fails = call.contains(" update ") && failures > 0;
        failures -= i32::from(fails);
        (1, Some(if fails { 100 } else { 0 }))
    });
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 0);
    assert_eq!(calls.borrow().len(), 5);
    assert_eq!(world.network.unwrap().pauses, [Duration::from_secs(3); 2]);

    let node = ubuntu(BINARY);
    let (mut world, calls) =
        tooled(&node, |call| (1, Some(if call.contains(" install ") { 100 } else { 0 })));
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 100);
    assert_eq!(calls.borrow().len(), 2 + 5);
    let (level, message) = events(&node, "DownloadHotfix").remove(0);
    assert_eq!(level, "Error");
    assert!(
        message.contains("binary=202604.01.1 failed: apt-get: exit status 100: E: why"),
        "{message}"
    );
    assert!(logged(&node).contains(&"ERROR aks-node-controller hotfix download failed".to_owned()));
    assert!(!node.exists(HOTFIX_AGENT));

    // Each attempt is killed after a minute, all of them after five.
    let node = ubuntu(BINARY);
    let (mut world, calls) = tooled(&node, |_| (10_000, Some(0)));
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 255);
    assert_eq!(calls.borrow().len(), 5, "all of dpkg");
    assert_eq!(world.network.as_ref().unwrap().now, Duration::from_mins(5));
    assert_eq!(events(&node, "DownloadHotfix")[0].0, "Error");

    // Never past what the CSE has left.
    let node = ubuntu(BINARY);
    let (mut world, _) = tooled(&node, |_| (10_000, Some(0)));
    let began = crate::fault_injection::START_TIME.as_secs() - 700;
    world.variables = vec![("CSE_STARTTIME_SECONDS".into(), began.to_string().into())];
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 255);
    assert_eq!(world.network.unwrap().now, Duration::from_secs(80));
}

#[test]
fn scripts_that_fail_do_not_keep_the_agent_from_being_taken_49() {
    let node = ubuntu(r#"{"version":"202604.01.1","scripts_version":"202604.01.1"}"#);
    node.write(CUSTOM_DATA, custom_data(Some("- owner: root\n")));
    let (mut world, calls) = installing(&node, Some(printing("202604.01.1\n")));
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 0);
    assert_eq!(calls.borrow().len(), 3);
    assert!(node.exists(HOTFIX_AGENT));
}

#[test]
fn policy_decides_what_is_taken_52() {
    let both = r#"{"version":"202604.01.1","scripts_version":"202604.01.1"}"#;
    for (file, toggle, scripts, binary) in [
        (None, None, true, false),
        (Some("scripts"), None, true, false),
        (Some("off\n"), None, false, false),
        (Some("full"), None, true, true),
        (Some("everything"), None, true, false),
        (Some("off"), Some("full"), true, true),
        (Some("full"), Some("off"), false, false),
        (Some("full"), Some(""), true, true),
    ] {
        let node = ubuntu(both);
        write_old_files(&node);
        node.write(CUSTOM_DATA, custom_data(None));
        match file {
            Some(file) => node.write(POLICY, file),
            None => fs::remove_file(node.at(POLICY)).unwrap(),
        }
        let (mut world, calls) = installing(&node, Some(printing("202604.01.1\n")));
        if let Some(toggle) = toggle {
            world.variables = vec![("MOORING_HOTFIX_POLICY".into(), toggle.into())];
        }
        assert_eq!(world.run_as(OWN, &["download-hotfix"]), 0);
        assert_eq!(are_new(&node), scripts, "{file:?} {toggle:?}");
        assert_eq!(node.exists(HOTFIX_AGENT), binary, "{file:?} {toggle:?}");
        assert_eq!(!calls.borrow().is_empty(), binary);
        let message = events(&node, "DownloadHotfix").remove(0).1;
        assert_eq!(message.contains("binary=202604.01.1 not taken (policy "), !binary, "{message}");
        let lost = "scripts embedded in it are not applied";
        assert_eq!(message.ends_with(lost), !binary, "{message}");
        let is_warned =
            logged(&node).iter().any(|line| line.starts_with("WARN binary hotfix not taken"));
        assert_eq!(is_warned, !binary);
        assert_eq!(
            logged(&node).iter().any(|line| line.contains("unknown hotfix policy")),
            file == Some("everything")
        );
    }
}

#[test]
fn scripts_that_are_not_applied_are_reported_52() {
    // Embedded in a binary that the policy excludes.
    for (policy, word) in [("scripts", "scripts"), ("off", "off")] {
        let node = ubuntu(BINARY);
        node.write(POLICY, policy);
        let mut world = world(&node, |_, _| None);
        assert_eq!(world.run_as(OWN, &["preflight", "-o", "json"]), 0);
        let report: serde_json::Value = serde_json::from_slice(&world.out).unwrap();
        let findings = report["findings"].as_array().unwrap();
        let finding = findings.iter().find(|finding| finding["check"] == "hotfix").unwrap();
        assert_eq!(finding["verdict"], "warning");
        let expected = format!(
            "the binary hotfix 202604.01.1 is requested and not taken (policy {word}), \
             scripts embedded in it are not applied: binary=202604.01.0 scripts=image"
        );
        assert_eq!(finding["summary"], expected);
    }
    // Taken, or not for this version.
    for (policy, own) in [("full", OWN), ("scripts", "202604.01.1"), ("scripts", "202605.01.0")] {
        let node = ubuntu(BINARY);
        node.write(POLICY, policy);
        let mut world = world(&node, |_, _| None);
        world.run_as(own, &["preflight"]);
        assert!(text(&world.out).contains("no hotfix is in effect"), "{}", text(&world.out));
    }
    // Requested without the file that would contain them.
    let node = ubuntu(r#"{"scripts_version":"202604.01.1"}"#);
    let (mut world, _) = tooled(&node, |_| (0, Some(0)));
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 0);
    let message = events(&node, "DownloadHotfix").remove(0).1;
    assert!(
        message.ends_with("scripts=202604.01.1 not applied (no nodecustomdata.yml) binary=none"),
        "{message}"
    );
    assert!(logged(&node).iter().any(|line| line.starts_with("WARN no nodecustomdata.yml")));
}

#[test]
fn commands_of_upstreams_launcher_are_understood_6_53() {
    let node = Node::new();
    let output = end_of(node.start(&["apply-embedded-hotfix"]));
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("no script hotfix is embedded in this agent"));
    let output = end_of(node.start(&["download-hotfix", "extra"]));
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("download-hotfix takes no arguments"));
    assert!(!node.exists("/var/log/azure/Microsoft.Azure.Extensions.CustomScript"));
}
