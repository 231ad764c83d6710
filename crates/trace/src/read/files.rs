//! Classifies the files of a node and groups files by node.

use std::collections::BTreeMap;

use crate::life::LifeFile;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceFile {
    /// Any path; only its suffix matters.
    pub path: String,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileContent {
    Report,
    /// `provision.json.previous`: the report of the previous attempt.
    EarlierReport,
    /// An event for the guest agent.
    Event,
    /// `cluster-provision.log`: what `bash -x` printed.
    Trace,
    /// `cluster-provision-cse-output.log`, written by the wrapper.
    Wrapper,
    /// `aks-node-controller.log`.
    AgentLog,
    /// `cloud-init.log`.
    CloudInit,
    /// The extension handler's log.
    Handler,
    /// The extension's message from Azure.
    Message,
    /// `/etc/os-release`.
    Release,
    /// What the cluster, Azure or the failure record has of the node.
    NodeLife(LifeFile),
    /// Contains no times.
    Other,
}

/// Directories of a node that contain its files; the root of the node is derived from them.
const ANCHORS: [&str; 6] = [
    "var/log/azure/",
    "var/log/waagent",
    "var/log/cloud-init",
    "opt/azure/",
    "run/aks-node-controller/",
    "etc/os-release",
];

/// Returns true if a file with this path may contain data of a node; others need not be read.
pub fn is_wanted(path: &str) -> bool {
    content(&TraceFile { path: path.to_owned(), bytes: Vec::new() }, false) != FileContent::Other
}

/// Classifies by path, and by content only if it is the only file.
pub(crate) fn content(file: &TraceFile, is_alone: bool) -> FileContent {
    let path = file.path.as_str();
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.strip_suffix(".json");
    let is_digits = |stem: &str| stem.len() >= 10 && stem.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = stem.is_some_and(is_digits);
    match name {
        // The status file of a running agent has the same name.
        "provision.json" if path.contains("run/aks-node-controller/") => FileContent::Other,
        "provision.json" => FileContent::Report,
        "provision.json.previous" if !is_alone => FileContent::EarlierReport,
        "cluster-provision.log" => FileContent::Trace,
        "cluster-provision-cse-output.log" => FileContent::Wrapper,
        "aks-node-controller.log" => FileContent::AgentLog,
        "cloud-init.log" => FileContent::CloudInit,
        "handler.log" => FileContent::Handler,
        "os-release" => FileContent::Release,
        "extension.txt" => FileContent::Message,
        _ if let Some(file) = LifeFile::of(name) => FileContent::NodeLife(file),
        _ if is_number || (path.contains("/events/") && stem.is_some()) => FileContent::Event,
        _ if is_alone => by_content(&file.bytes),
        _ => FileContent::Other,
    }
}

fn by_content(bytes: &[u8]) -> FileContent {
    let holds = |word: &str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    if is_object && holds("\"TaskName\"") {
        FileContent::Event
    } else if holds("logs_to_events ") && !holds("ExitCode") {
        FileContent::Trace
    } else if is_object && holds("\"msg\"") && holds("aks-node-controller") {
        FileContent::AgentLog
    } else {
        FileContent::Message
    }
}

/// Groups files by the root directory of their node. A path without a known directory belongs to the root "".
pub(crate) fn by_node(files: &[TraceFile]) -> BTreeMap<String, Vec<&TraceFile>> {
    let mut nodes: BTreeMap<String, Vec<&TraceFile>> = BTreeMap::new();
    for file in files {
        nodes.entry(root(&file.path).to_owned()).or_default().push(file);
    }
    // Loose files, such as an archive's manifest, belong to the only node.
    if nodes.len() == 2
        && let Some(loose) = nodes.remove("")
    {
        for files in nodes.values_mut() {
            files.extend(loose.iter().copied());
        }
    }
    nodes
}

fn root(path: &str) -> &str {
    let path = path.trim_start_matches("./");
    // In a bundle of a node's name, each directory is a node.
    if let Some((directory, name)) = path.rsplit_once('/')
        && (name == "extension.txt" || LifeFile::of(name).is_some())
    {
        return directory;
    }
    ANCHORS
        .iter()
        .filter_map(|anchor| {
            let at = path.find(anchor)?;
            (at == 0 || path.as_bytes()[at - 1] == b'/').then_some(at)
        })
        .min()
        .map_or("", |at| path[..at].trim_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> TraceFile {
        TraceFile { path: path.to_owned(), bytes: Vec::new() }
    }

    #[test]
    fn files_of_several_nodes_are_grouped_by_root() {
        let files = [
            file("demo/a/var/log/azure/aks/provision.json"),
            file("demo/a/etc/os-release"),
            file("demo/b/var/log/azure/cluster-provision.log"),
            file("manifest.json"),
        ];
        let nodes = by_node(&files);
        assert_eq!(nodes.keys().collect::<Vec<_>>(), ["", "demo/a", "demo/b"]);
        assert_eq!(nodes["demo/a"].len(), 2);
        let one = by_node(&files[2..]);
        assert_eq!(one.keys().collect::<Vec<_>>(), ["demo/b"]);
        assert_eq!(one["demo/b"].len(), 2, "a loose file belongs to the only node");
        assert_eq!(root("/var/log/azure/x"), "");
        assert_eq!(root("my-opt/maps"), "", "a name that only ends like a directory of ours");
    }

    #[test]
    fn status_file_of_a_running_agent_is_not_a_report() {
        assert_eq!(
            content(&file("run/aks-node-controller/provision.json"), true),
            FileContent::Other
        );
        assert_eq!(
            content(&file("x/var/log/azure/aks/provision.json"), false),
            FileContent::Report
        );
        assert_eq!(content(&file("1684830929123.json"), false), FileContent::Event);
    }

    #[test]
    fn report_of_the_previous_attempt_is_a_report_if_alone() {
        let previous = file("var/log/azure/aks/provision.json.previous");
        assert_eq!(content(&previous, false), FileContent::EarlierReport);
        assert_eq!(content(&previous, true), FileContent::Message);
    }

    #[test]
    fn files_without_data_of_a_node_are_skipped() {
        for path in [
            "a/var/log/azure/aks/provision.json",
            "a/nodeclaim.yaml",
            "a/node.yaml",
            "a/vm.json",
            "a/record.json",
            "a/usual.json",
            "var/log/events/x.json",
        ] {
            assert!(is_wanted(path), "{path}");
        }
        for path in ["var/log/syslog", "run/aks-node-controller/provision.json", "events/x.txt"] {
            assert!(!is_wanted(path), "{path}");
        }
    }
}
