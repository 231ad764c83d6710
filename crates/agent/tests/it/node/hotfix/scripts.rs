//! `download-hotfix`, scripts: cases 45 to 48.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::download::node_with;
use super::{CUSTOM_DATA, OWN, RECORD, events, left_over, logged, world};
use crate::fault_injection::{EACCES, EIO};
use crate::support::{Node, REPORT, text};

pub(super) const SCRIPTS: &str = r#"{"scripts_version":"202604.01.1"}"#;

fn packed(content: &str) -> String {
    STANDARD.encode(gzip(content.as_bytes()))
}

/// As `gzip` writes it, in one stored block.
fn gzip(content: &[u8]) -> Vec<u8> {
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1];
    let length = u16::try_from(content.len()).unwrap();
    file.extend(length.to_le_bytes());
    file.extend((!length).to_le_bytes());
    file.extend(content);
    let crc = content.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ (0xedb8_8320 * (sum & 1)))
    });
    file.extend((!crc).to_le_bytes());
    file.extend(u32::from(length).to_le_bytes());
    file
}

/// The list of five files, of which some exist already; `broken` replaces the third entry.
pub(super) fn custom_data(broken: Option<&str>) -> String {
    let third = broken.unwrap_or(
        "- path: /opt/azure/containers/c.sh\n  permissions: \"0775\"\n  content: |\n    new c\n",
    );
    format!(
        "#cloud-config\nbootcmd:\n- set -x\nwrite_files:\n\
         - path: /opt/azure/containers/a.sh\n  permissions: \"0744\"\n  owner: root\n  encoding: gzip\n  content: !!binary |\n    {}\n\
         - path: /etc/systemd/system/b.service\n  owner: root\n  content: |\n    new b\n\
         {third}\
         - path: /opt/new/folder/d.sh\n  permissions: \"0700\"\n  encoding: base64\n  content: |\n    {}\n\
         - path: /var/lib/e\n  permissions: 0600\n  content: |-\n    new e\n",
        packed("new a\n"),
        STANDARD.encode("new d\n"),
    )
}

/// Paths, modes and contents after the hotfix. One of the modes has a bit that the process's mask excludes.
pub(super) const FILES: [(&str, u32, &str); 5] = [
    ("/opt/azure/containers/a.sh", 0o744, "new a\n"),
    ("/etc/systemd/system/b.service", 0o644, "new b\n"),
    ("/opt/azure/containers/c.sh", 0o775, "new c\n"),
    ("/opt/new/folder/d.sh", 0o700, "new d\n"),
    ("/var/lib/e", 0o600, "new e"),
];

/// The first three files as the image has them; the last two are not there.
pub(super) fn write_old_files(node: &Node) {
    for (path, ..) in &FILES[..3] {
        node.write(path, format!("old {path}\n"));
    }
}

/// True for five new files, false for the image's; anything else is a mix.
pub(super) fn are_new(node: &Node) -> bool {
    let states: Vec<(bool, bool)> = FILES
        .iter()
        .enumerate()
        .map(|(at, (path, mode, content))| {
            let found = node.read(path);
            let is_new = found.as_deref() == Some(*content) && node.mode(path) == *mode;
            let old = (at < 3).then(|| format!("old {path}\n"));
            (is_new, found == old)
        })
        .collect();
    assert!(
        states.iter().all(|(is_new, _)| *is_new) || states.iter().all(|(_, is_old)| *is_old),
        "a mix: {states:?}"
    );
    states[0].0
}

#[test]
fn repaired_scripts_are_written_and_provision_runs_them_45_46() {
    let node = node_with(SCRIPTS);
    write_old_files(&node);
    node.write(CUSTOM_DATA, custom_data(None));
    let mut world = world(&node, |_, _| None);
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 0, "{}", text(&world.err));
    assert!(are_new(&node));
    assert_eq!(left_over(&node), [""; 0]);
    let event = "download-hotfix policy=scripts current=202604.01.0 scripts=202604.01.1 (5 files) binary=none";
    assert_eq!(events(&node, "DownloadHotfix"), [("Informational".to_owned(), event.to_owned())]);

    // `provision` names what runs, and so does the report.
    let config = node.write_typed("config.json", r#"{"version":"v1"}"#);
    let script = format!("cat '{}'; exit 50", node.at("/opt/azure/containers/a.sh").display());
    node.write("/opt/azure/containers/provision_start.sh", script);
    let mut world = super::world(&node, |_, _| None);
    assert_eq!(world.run_as(OWN, &["provision", "--provision-config", &config]), 50);
    assert!(node.read(REPORT).unwrap().contains("new a"), "provision sees them");
    let state = "hotfix binary=202604.01.0 scripts=202604.01.1";
    assert_eq!(events(&node, "Hotfix"), [("Informational".to_owned(), state.to_owned())]);
    assert!(logged(&node).contains(&"INFO hotfix in effect".to_owned()));
    let completed = "INFO completed the script hotfix that was interrupted".to_owned();
    assert!(!logged(&node).contains(&completed), "nothing was interrupted");
    let mut world = super::world(&node, |_, _| None);
    assert_eq!(world.run_as(OWN, &["provision-wait"]), 50);
    let report: serde_json::Value = serde_json::from_slice(&world.out).unwrap();
    assert_eq!(report["Hotfix"], "binary=202604.01.0 scripts=202604.01.1");
    assert_eq!(events(&node, "Hotfix").len(), 1, "announced once");
    let mut world = super::world(&node, |_, _| None);
    world.run_as(OWN, &["preflight"]);
    assert!(text(&world.out).contains("scripts=202604.01.1"), "{}", text(&world.out));

    for pointer in
        [r#"{"scripts_version":"202605.01.1"}"#, "{}", r#"{"scripts_version":"202604.01.0"}"#]
    {
        let node = node_with(pointer);
        write_old_files(&node);
        node.write(CUSTOM_DATA, custom_data(None));
        assert_eq!(super::world(&node, |_, _| None).run_as(OWN, &["download-hotfix"]), 0);
        assert!(!are_new(&node));
    }
    // Old files of the same length are also replaced.
    let node = node_with(SCRIPTS);
    for (path, _, content) in &FILES[..3] {
        node.write(path, content.replace("new", "old"));
    }
    node.write(CUSTOM_DATA, custom_data(None));
    assert_eq!(super::world(&node, |_, _| None).run_as(OWN, &["download-hotfix"]), 0);
    assert!(are_new(&node));
    // The last entry of a path counts, as for cloud-init, which writes one after the other.
    let node = node_with(SCRIPTS);
    write_old_files(&node);
    let earlier = "- path: /opt/azure/containers/a.sh\n  content: |\n    earlier\n";
    let list = custom_data(None).replace("write_files:\n", &format!("write_files:\n{earlier}"));
    node.write(CUSTOM_DATA, list);
    assert_eq!(super::world(&node, |_, _| None).run_as(OWN, &["download-hotfix"]), 0);
    assert!(are_new(&node));
    // No list, nothing to write.
    let node = node_with(SCRIPTS);
    assert_eq!(super::world(&node, |_, _| None).run_as(OWN, &["download-hotfix"]), 0);
    assert!(!node.exists(RECORD));
}

#[test]
fn bad_entry_leaves_all_files_unchanged_47_48() {
    let bomb = {
        // One GiB of zeros: a thousand stored members of a MiB would be a GiB, so this one repeats a block of them.
        let zeros = vec![0; 65_000];
        let mut member = Vec::new();
        for _ in 0..70 {
            member.extend(gzip(&zeros));
        }
        STANDARD.encode(member)
    };
    let many: String = (0..10_000).fold(String::new(), |mut list, at| {
        let _ = writeln!(list, "- path: /etc/many/{at}");
        list
    });
    let long = format!("- path: /etc/{}\n", "x".repeat(250));
    for third in [
        "- path: /etc/x\n  owner: nobody\n",
        "- path: /etc/x\n  encoding: zip\n",
        "- path: /etc/x\n  permissions: \"0999\"\n",
        "- path: /etc/x\n  encoding: gzip\n  content: !!binary QUJD\n",
        "- owner: root\n",
        "- path: /opt/../usr/bin/x\n",
        "- path: /opt/./x\n",
        "- path: /opt//x\n",
        "- path: opt/x\n",
        "- path: /opt/x/\n",
        "- path: /usr/bin/x\n",
        "- path: /optx/x\n",
        "- path: /opt\n",
        "- path: /root/x\n",
        "- path: /etc/linked/x\n",
        "- path: /etc/link\n",
        "- path: /etc/systemd/system/b.service/x\n",
        "- path: /etc/systemd\n",
        "- path: /etc/x\n- path: /etc/x/y\n",
        "- path: /opt/azure/containers/aks-node-controller\n",
        "- path: /opt/azure/containers/aks-node-controller-hotfix\n",
        "- path: /opt/azure/containers/aks-node-controller-hotfix-policy\n",
        &long,
        &many,
        &format!("# {}\n- path: /etc/x\n", "x".repeat(4 << 20)),
        &format!("- path: /etc/x\n  encoding: gzip\n  content: !!binary {bomb}\n"),
    ] {
        let node = node_with(SCRIPTS);
        write_old_files(&node);
        fs::create_dir_all(node.at("/etc/real")).unwrap();
        symlink(node.at("/etc/real"), node.at("/etc/linked")).unwrap();
        symlink("/etc/real/x", node.at("/etc/link")).unwrap();
        node.write(CUSTOM_DATA, custom_data(Some(third)));
        let before = node.files();
        let mut world = world(&node, |_, _| None);
        let name: String = third.chars().take(60).collect();
        assert_eq!(world.run_as(OWN, &["download-hotfix"]), 0, "{name}");
        assert!(
            logged(&node).iter().any(|line| line.starts_with("WARN failed to apply")),
            "{name}"
        );
        assert_eq!(events(&node, "DownloadHotfix")[0].0, "Error", "{name}");
        assert!(!node.exists("/etc/x"), "{name}: no directory is left either");
        let mut after = node.files();
        after.retain(|path, _| !path.starts_with("/var/log/"));
        assert!(before == after, "{name}");
    }
}

#[test]
fn file_system_that_cannot_exchange_gets_the_files_one_by_one() {
    const EOPNOTSUPP: i32 = 95;
    for (error, is_new) in [(EOPNOTSUPP, true), (EIO, false)] {
        let node = node_with(SCRIPTS);
        write_old_files(&node);
        node.write(CUSTOM_DATA, custom_data(None));
        let mut renames = 0;
        let mut world = world(&node, move |operation, path| {
            let is_first = operation == "rename" && path.ends_with("containers/a.sh");
            renames += usize::from(is_first);
            (is_first && renames == 1).then_some(error)
        });
        assert_eq!(world.run_as(OWN, &["download-hotfix"]), 0, "{}", text(&world.err));
        assert_eq!(are_new(&node), is_new, "{}", text(&world.err));
        assert_eq!(left_over(&node), [""; 0]);
    }
}

#[test]
fn custom_data_that_cannot_be_read_is_a_failure() {
    let node = node_with(SCRIPTS);
    write_old_files(&node);
    node.write(CUSTOM_DATA, custom_data(None));
    let mut world = world(&node, |operation, path| {
        (operation == "open" && path.ends_with("nodecustomdata.yml")).then_some(EACCES)
    });
    assert_eq!(world.run_as(OWN, &["download-hotfix"]), 0);
    assert!(!are_new(&node));
    let log = text(&world.err);
    assert!(log.contains("nodecustomdata.yml: permission denied"), "{log}");
}

#[test]
fn image_with_repaired_scripts_does_not_pass_preflight() {
    let node = node_with(SCRIPTS);
    let verdict = |stage: &str| {
        let mut world = world(&node, |_, _| None);
        world.run_as(OWN, &["preflight", "--stage", stage, "-o", "json"]);
        let report: serde_json::Value = serde_json::from_slice(&world.out).unwrap();
        let mut findings = report["findings"].as_array().unwrap().iter();
        let finding = findings.find(|finding| finding["check"] == "hotfix").unwrap();
        ["verdict", "summary"].map(|name| finding[name].as_str().unwrap().to_owned())
    };
    assert_eq!(verdict("image"), ["pass", "no hotfix is in effect"]);
    node.write(CUSTOM_DATA, custom_data(None));
    assert_eq!(world(&node, |_, _| None).run_as(OWN, &["download-hotfix"]), 0);
    let state = "binary=202604.01.0 scripts=202604.01.1";
    assert_eq!(
        verdict("image"),
        ["warning".to_owned(), format!("the image has hotfixed scripts: {state}")]
    );
    assert_eq!(verdict("node"), ["pass".to_owned(), format!("hotfix in effect: {state}")]);
}
