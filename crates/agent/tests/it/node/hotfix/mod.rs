//! Hotfixes on a node. Numbers at the end of names are those of the acceptance list that hotfixes were built from.

mod check;
mod download;
mod hosted;
mod kills;
mod limits;
mod program;
mod scripts;
mod service;
mod staged;

use std::path::Path;
use std::time::Duration;

use mooring_agent::world::{HttpFailure, HttpRequest, HttpResponse};
use serde_json::Value;

use crate::fault_injection::{EIO, Faulty, Network};
use crate::support::{EVENTS, LOG, Node};

/// The version of the agent, unless a case has another.
pub(super) const OWN: &str = "202604.01.0";
pub(super) const POINTER: &str = "/opt/azure/containers/aks-node-controller-hotfix.json";
pub(super) const POLICY: &str = "/opt/azure/containers/aks-node-controller-hotfix-policy";
pub(super) const CUSTOM_DATA: &str = "/opt/azure/containers/nodecustomdata.yml";
pub(super) const CONFIG: &str = "/opt/azure/containers/aks-node-controller-config.json";
pub(super) const NBC: &str = "/opt/azure/containers/aks-node-controller-nbc-cmd.sh";
pub(super) const AGENT: &str = "/opt/azure/containers/aks-node-controller";
pub(super) const HOTFIX_AGENT: &str = "/opt/azure/containers/aks-node-controller-hotfix";
pub(super) const RECORD: &str = "/opt/azure/containers/aks-node-controller-hotfix-state.json";

/// A world with this rule; panics are the test's own.
pub(super) fn world(
    node: &Node,
    mut rule: impl FnMut(&str, &Path) -> Option<i32> + 'static,
) -> Faulty {
    Faulty::new(&node.root(), move |operation, path| match operation {
        "on_panic" => Some(EIO),
        "caught_signal" => None,
        _ => rule(operation, path),
    })
}

/// A world whose IMDS responds as `imds` does, in no time.
pub(super) fn networked(
    node: &Node,
    mut imds: impl FnMut(&HttpRequest<'_>) -> Result<HttpResponse, HttpFailure> + 'static,
) -> Faulty {
    let mut world = world(node, |_, _| None);
    world.network = Some(Network::new(7, move |request| (Duration::ZERO, imds(request))));
    world
}

pub(super) fn response(status: u16, body: &str) -> HttpResponse {
    HttpResponse { status, headers: Vec::new(), body: body.as_bytes().to_vec() }
}

/// Levels and messages of the events of a task, without their times.
pub(super) fn events(node: &Node, task: &str) -> Vec<(String, String)> {
    let files = node.files();
    let events = files.iter().filter(|(path, _)| path.starts_with(EVENTS));
    events
        .map(|(_, content)| serde_json::from_slice::<Value>(content).unwrap())
        .filter(|event| event["TaskName"] == format!("AKS.AKSNodeController.{task}"))
        .map(|event| {
            let message = event["Message"].as_str().unwrap();
            let (message, times) = message.split_once(" | startTime=").unwrap();
            assert!(times.contains(" endTime=") && times.contains(" durationMs="), "{times}");
            (event["EventLevel"].as_str().unwrap().to_owned(), message.to_owned())
        })
        .collect()
}

/// Messages in the log, with their levels.
pub(super) fn logged(node: &Node) -> Vec<String> {
    let log = node.read(LOG).unwrap_or_default();
    log.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| {
            format!("{} {}", line["level"].as_str().unwrap(), line["msg"].as_str().unwrap())
        })
        .collect()
}

/// Names of temporary files that were left.
pub(super) fn left_over(node: &Node) -> Vec<String> {
    let files = node.files().into_keys();
    files.filter(|path| path.contains("/.")).collect()
}
