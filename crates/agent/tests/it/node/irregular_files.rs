//! Something other than a regular file at every path that is read: no command waits for it, and none prints what a link
//! in the log directory leads to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::hotfix::{AGENT, CONFIG, CUSTOM_DATA, NBC, OWN, POINTER, POLICY, RECORD, response};
use crate::fault_injection::{EIO, Faulty, Network};
use crate::support::{LOG, Node, REPORT, SENTINEL, text, write_program};

const RUN_RECORD: &str = "/run/aks-node-controller/provision.json";
const RUN_LOCK: &str = "/run/aks-node-controller/provision.lock";
const SCRIPTS_LOG: &str = "/var/log/azure/cluster-provision.log";
const BASE_PREP: &str = "/opt/azure/containers/base_prep.complete";
const PACKAGED: &str = "/usr/bin/aks-node-controller";
/// In the file that a link leads to.
const CANARY: &str = "root:canary-of-another-file:\n";

/// Commands that read files, with what exists before them. `TYPED` is the directory of files of the command line.
const COMMANDS: [(&[&str], &[&str]); 11] = [
    (&["provision", "--provision-config=TYPED/config.json"], &[]),
    (&["provision", "--nbc-cmd=TYPED/nbc.sh", "--provision-config=TYPED/config.json"], &[]),
    (&["provision", "--provision-config=TYPED/config.json"], &[REPORT, SENTINEL]),
    (&["provision-wait", "--timeout=20ms"], &[REPORT, SENTINEL]),
    (&["provision-wait", "--timeout=20ms"], &[BASE_PREP]),
    (&["preflight"], &[REPORT, SENTINEL]),
    (&["preflight", "--stage", "image"], &[REPORT, SENTINEL]),
    (&["render", "env", "--provision-config=TYPED/config.json"], &[]),
    (&["download-hotfix"], &[]),
    (&["check-hotfix"], &[]),
    (
        &[
            "registry-login",
            "--registry=r.azurecr.io",
            "--client-id=c",
            "--tenant-id=t",
            "--ca-file=TYPED/ca.pem",
            "--budget=1s",
        ],
        &[],
    ),
];

/// Paths that the commands read at least, so that the list that is found cannot be empty by mistake.
const READ: [&str; 13] = [
    "TYPED/config.json",
    "TYPED/nbc.sh",
    "TYPED/ca.pem",
    REPORT,
    RUN_RECORD,
    RUN_LOCK,
    SCRIPTS_LOG,
    "/opt/azure/components.json",
    CONFIG,
    NBC,
    POINTER,
    RECORD,
    PACKAGED,
];

fn node(before: &[&str]) -> Node {
    let node = Node::with_script("exit 50");
    let config = r#"{"version": "v1", "api_server_config": {"api_server_name": "a"}}"#;
    node.write_typed("config.json", config);
    node.write_typed("nbc.sh", "exit 50");
    node.write_typed("ca.pem", "");
    node.write_typed("canary", CANARY.repeat(50));
    write_program(&node.typed("bin/oras"), "#!/bin/sh\n", 0o755);
    for (path, content) in [
        (CONFIG, config),
        (NBC, "API_SERVER_NAME=a"),
        (POINTER, r#"{"version":"202604.01.1","scripts_version":"202604.01.1"}"#),
        (POLICY, "full"),
        (CUSTOM_DATA, "write_files: []\n"),
        (RECORD, "{}"),
        (AGENT, "the image's agent"),
        (PACKAGED, "a packaged agent"),
        ("/etc/os-release", "ID=ubuntu\n"),
        ("/etc/apt/sources.list.d/microsoft-prod.list", ""),
        (RUN_RECORD, r#"{"agent":{"pid":1,"startTime":1},"bootId":"another"}"#),
        (SCRIPTS_LOG, ""),
    ] {
        node.write(path, content);
    }
    for path in before {
        node.write(path, if *path == REPORT { r#"{"ExitCode":"50"}"# } else { "" });
    }
    node
}

struct Ended {
    exit_code: u8,
    printed: String,
    /// Files of the node that were opened; `TYPED` as in [`COMMANDS`].
    opened: BTreeSet<String>,
}

/// Runs a command in a thread: `None` if it does not end.
fn run(node: &Node, words: &[&str]) -> Option<Ended> {
    let (sender, ends) = mpsc::channel();
    let (root, typed) = (node.root(), node.typed(""));
    let typed = typed.to_str().unwrap().trim_end_matches('/').to_owned();
    let words: Vec<String> = words.iter().map(|word| word.replace("TYPED", &typed)).collect();
    thread::spawn(move || {
        let mut world = Faulty::new(&root, |operation, _| (operation == "on_panic").then_some(EIO));
        world.variables = vec![("PATH".into(), format!("{typed}/bin").into())];
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // A wait needs real time to end.
        if !words[0].starts_with("provision") {
            world.network = Some(Network::new(7, |_| (Duration::ZERO, Ok(response(500, "")))));
        }
        let exit_code = world.run_as(OWN, &words);
        let root = root.to_str().unwrap();
        let trace = world.trace.borrow();
        let opened = trace.iter().filter_map(|line| {
            let (operation, path) = line.split_once(' ')?;
            let is_read = matches!(operation, "open" | "read_at" | "lock");
            let path = path
                .strip_prefix(root)
                .map(str::to_owned)
                .or_else(|| path.strip_prefix(&typed).map(|path| format!("TYPED{path}")))?;
            is_read.then_some(path)
        });
        let opened = opened.collect();
        let printed = text(&world.out) + &text(&world.err);
        let _ = sender.send(Ended { exit_code, printed, opened });
    });
    ends.recv_timeout(Duration::from_mins(1)).ok()
}

fn put(path: &Path, kind: &str, canary: &Path) {
    let _ = fs::remove_file(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match kind {
        "a directory" => fs::create_dir(path).unwrap(),
        "a link" => symlink(canary, path).unwrap(),
        _ => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
    }
}

#[test]
fn no_command_waits_for_what_is_not_a_file() {
    let mut read = BTreeSet::new();
    for (words, before) in COMMANDS {
        let regular = run(&node(before), words).expect("an end");
        for path in &regular.opened {
            for kind in ["a FIFO", "a directory", "a link"] {
                let case = format!("{words:?}: {kind} at {path}");
                let node = node(before);
                let place: PathBuf = match path.strip_prefix("TYPED/") {
                    Some(name) => node.typed(name),
                    None => node.at(path),
                };
                put(&place, kind, &node.typed("canary"));
                let Some(ended) = run(&node, words) else { panic!("{case}: does not end") };
                if path.starts_with("/var/log/azure/") {
                    let log = node.read(LOG).unwrap_or_default();
                    let report = if path == REPORT { None } else { node.read(REPORT) };
                    let report = report.unwrap_or_default();
                    for text in [&ended.printed, &log, &report] {
                        assert!(!text.contains("canary"), "{case}: {text}");
                    }
                }
                if path == REPORT && words[0] == "provision-wait" && before.contains(&SENTINEL) {
                    assert_eq!(ended.exit_code, 1, "{case}: {}", ended.printed);
                }
            }
        }
        read.extend(regular.opened);
    }
    for path in READ {
        assert!(read.contains(path), "no command reads {path}: {read:?}");
    }
}

/// Folders of the log directory, and the directory itself.
const FOLDERS: [&str; 4] = [
    "/var/log/azure",
    "/var/log/azure/aks",
    "/var/log/azure/Microsoft.Azure.Extensions.CustomScript",
    "/var/log/azure/Microsoft.Azure.Extensions.CustomScript/events",
];

#[test]
fn link_in_place_of_a_folder_of_logs_is_not_followed() {
    for folder in FOLDERS {
        for (words, before, code) in [
            (&["provision", "--provision-config=TYPED/config.json"][..], &[][..], 50),
            (&["provision-wait", "--timeout=20ms"], &[SENTINEL], 1),
        ] {
            let node = node(before);
            let elsewhere = node.typed("elsewhere");
            // Each file has the same name below each folder.
            for folder in ["", "azure", "azure/aks", "aks", "events"] {
                let file = elsewhere.join(folder).join("provision.json");
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, r#"{"ExitCode":"0","Output":"canary"}"#).unwrap();
            }
            let before = files(&elsewhere);
            let _ = fs::remove_dir_all(node.at(folder));
            fs::create_dir_all(node.at(folder).parent().unwrap()).unwrap();
            symlink(&elsewhere, node.at(folder)).unwrap();
            let ended = run(&node, words).unwrap();
            let case = format!("{folder}: {words:?}: {}", ended.printed);
            assert_eq!(ended.exit_code, code, "{case}");
            assert!(!ended.printed.contains("canary"), "{case}");
            let mut after = files(&elsewhere);
            // The shell command that starts the scripts has it from upstream.
            after.remove(&elsewhere.join("cluster-provision-cse-output.log"));
            assert_eq!(after, before, "{case}");
        }
    }
}

/// Returns everything below a folder, with the contents of files.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
            found.insert(path, String::new());
        } else {
            found.insert(path.clone(), fs::read_to_string(path).unwrap());
        }
    }
    found
}
