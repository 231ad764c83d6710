//! Verdicts of single preflight checks, good and bad, at their limits.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use mooring_agent::world::Space;
use serde_json::Value;

use crate::fault_injection::Faulty;
use crate::support::{Node, text, write_program};

/// A world whose search path is these directories.
fn world(node: &Node, path: &[&Path]) -> Faulty {
    let mut world = Faulty::new(&node.root(), |_, _| None);
    let path = std::env::join_paths(path).unwrap();
    world.variables = vec![("PATH".into(), path)];
    world
}

/// Verdict, summary and evidence of one check.
fn found(world: &mut Faulty, check: &str, words: &[&str]) -> (String, String, String) {
    let all = [&["preflight", "-o", "json"], words].concat();
    world.run(&all);
    let report: Value = serde_json::from_slice(&world.out).unwrap();
    world.out.clear();
    let mut findings = report["findings"].as_array().unwrap().iter();
    let finding = findings.find(|finding| finding["check"] == check).unwrap();
    let text = |name: &str| finding[name].as_str().unwrap().to_owned();
    (text("verdict"), text("summary"), finding["evidence"].to_string())
}

#[test]
fn programs_of_the_image_pass_if_they_can_be_run() {
    for check in ["containerd", "kubelet", "jq", "systemctl", "curl"] {
        let node = Node::with_script("");
        let folder = node.typed("programs");
        fs::create_dir_all(&folder).unwrap();
        let mut world = world(&node, &[&folder]);
        let (verdict, summary, _) = found(&mut world, check, &[]);
        assert_eq!(verdict, "warning", "{check}");
        assert_eq!(summary, format!("{check} is not in PATH"));

        let program = folder.join(check);
        write_program(&program, "#!/bin/sh\n", 0o644);
        let (verdict, summary, _) = found(&mut world, check, &[]);
        assert_eq!(verdict, "warning", "{check}");
        assert!(summary.contains("not executable (mode 0644)"), "{summary}");

        write_program(&program, "#!/bin/sh\n", 0o755);
        let (verdict, summary, _) = found(&mut world, check, &[]);
        assert_eq!(verdict, "pass", "{check}");
        assert_eq!(summary, format!("{check} is {}", program.display()));
    }
}

#[test]
fn programs_that_the_config_provides_are_not_searched_for() {
    for (check, config) in [
        ("containerd", r#""containerd_config": {"containerd_package_url": "https://x/c"}"#),
        ("kubelet", r#""kube_binary_config": {"custom_kube_binary_url": "https://x/k"}"#),
        ("kubelet", r#""kube_binary_config": {"private_kube_binary_url": "https://x/k"}"#),
    ] {
        let node = Node::with_script("");
        let config = node.write_typed("config.json", format!(r#"{{"version": "v1", {config}}}"#));
        let words = ["--provision-config", &config];
        assert_eq!(found(&mut world(&node, &[]), check, &words).0, "skipped", "{check}");
        let plain = node.write_typed("plain.json", r#"{"version": "v1"}"#);
        let words = ["--provision-config", &plain];
        assert_eq!(found(&mut world(&node, &[]), check, &words).0, "warning", "{check}");
    }
}

#[test]
fn little_space_or_few_inodes_are_a_warning() {
    const GIB: u64 = 1 << 30;
    for (free_bytes, free_files, evidence) in [
        (GIB, Some(10_000), None),
        (GIB, None, None),
        (GIB - 1, Some(10_000), Some("/opt/azure: 1023 MiB are free")),
        (GIB, Some(9_999), Some("/opt/azure: 9999 free inodes")),
        (0, Some(0), Some("/etc: 0 free inodes")),
    ] {
        let node = Node::with_script("");
        let mut world = world(&node, &[]);
        world.space = Some(Space { free_bytes, free_files });
        let (verdict, _, seen) = found(&mut world, "space", &[]);
        let expected = if evidence.is_some() { "warning" } else { "pass" };
        assert_eq!(verdict, expected, "{free_bytes} {free_files:?}");
        assert!(seen.contains(evidence.unwrap_or_default()), "{seen}");
    }
}

#[test]
fn clock_before_the_software_is_a_warning() {
    // 2026-08-21T00:00:00Z
    let date = SystemTime::UNIX_EPOCH + Duration::from_hours(496_464);
    let node = Node::with_script("");
    for (now, expected) in [(date, "pass"), (date - Duration::from_secs(1), "warning")] {
        let mut world = world(&node, &[]);
        world.clock = Some(now);
        let (verdict, summary, _) = found(&mut world, "clock", &[]);
        assert_eq!(verdict, expected, "{summary}");
    }
}

#[test]
fn oras_for_another_machine_hides_a_good_one() {
    // A shell runs the first program that it can execute, and fails.
    let mut foreign = fs::read(std::env::current_exe().unwrap()).unwrap();
    foreign[18] = 0xf3;
    let node = Node::with_script("");
    let (first, second) = (node.typed("first"), node.typed("second"));
    write_program(&first.join("oras"), &foreign, 0o755);
    write_program(&second.join("oras"), "#!/bin/sh\n", 0o755);
    let config = node.write_typed(
        "config.json",
        r#"{"version": "v1", "bootstrap_profile_container_registry_server": "r.azurecr.io"}"#,
    );
    let words = ["--provision-config", &config];
    let (verdict, summary, evidence) = found(&mut world(&node, &[&first, &second]), "oras", &words);
    assert_eq!(verdict, "fatal", "{summary}");
    assert!(summary.contains("made for riscv"), "{summary}");
    assert!(evidence.contains(&first.join("oras").display().to_string()), "{evidence}");
    let (verdict, summary, _) = found(&mut world(&node, &[&second, &first]), "oras", &words);
    assert_eq!(verdict, "pass", "{summary}");
}

#[test]
fn config_of_an_unknown_version_is_fatal() {
    let node = Node::with_script("");
    let config = node.write_typed("config.json", r#"{"version": "v9"}"#);
    let words = ["--provision-config", &config];
    let (verdict, summary, evidence) = found(&mut world(&node, &[]), "config", &words);
    assert_eq!(verdict, "fatal");
    assert!(format!("{summary} {evidence}").contains("unsupported version: v9"), "{summary}");
    // As a table, with the exit code.
    let mut world = world(&node, &[]);
    assert_eq!(world.run(&[&["preflight"][..], &words].concat()), 240);
    let table = text(&world.out);
    assert!(table.contains("\nfatal    config        240  "), "{table}");
    // Only what is not well is explained.
    for pair in table.lines().collect::<Vec<_>>().windows(2) {
        let is_well = pair[0].starts_with("pass") || pair[0].starts_with("skipped");
        assert!(!(is_well && pair[1].starts_with(' ')), "{table}");
    }
}

#[test]
fn start_script_is_needed_by_an_nbc_command_that_calls_it() {
    for (command, expected) in [
        ("A=b /bin/bash /opt/azure/containers/provision_start.sh", "fatal"),
        ("A=b /bin/bash /opt/azure/containers/other.sh", "skipped"),
    ] {
        let node = Node::new();
        node.write("/opt/azure/containers/aks-node-controller-nbc-cmd.sh", command);
        let (verdict, summary, _) = found(&mut world(&node, &[]), "start-script", &[]);
        assert_eq!(verdict, expected, "{summary}");
    }
}

#[test]
fn checks_of_the_config_are_skipped_without_one() {
    let node = Node::with_script("");
    let (verdict, summary, _) = found(&mut world(&node, &[]), "config", &[]);
    assert_eq!((verdict.as_str(), summary.as_str()), ("skipped", "no node config is given"));
}

#[test]
fn oras_is_started_only_where_it_is_needed() {
    let node = Node::with_script("");
    let folder = node.typed("programs");
    let oras = folder.join("oras");
    write_program(&oras, "#!/bin/sh\nexit 1\n", 0o755);
    let (verdict, summary, _) = found(&mut world(&node, &[&folder]), "oras", &[]);
    assert_eq!((verdict, summary), ("pass".to_owned(), format!("oras is {}", oras.display())));
}
