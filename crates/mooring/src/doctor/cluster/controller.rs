//! The controller and its failure record.

use mooring_nodes::ClusterFacts;
use mooring_redact::printable;
use mooring_workflow::published::{SourceName, SourceState};
use serde_json::Value;

use super::install::{self, check_pull};
use crate::cluster::ConnectedCluster;
use crate::doctor::check::{CheckState, DoctorCheck};
use crate::doctor::installed;

pub(crate) async fn controller(cluster: &ConnectedCluster) -> Vec<DoctorCheck> {
    let facts = &cluster.facts;
    let state = &facts.controller;
    let namespace = &state.namespace;
    let version = state.version.as_deref().unwrap_or("of an unknown version");
    let leader = state.leader.as_deref().unwrap_or("no replica");
    let replicas =
        state.replicas.map_or_else(String::new, |replicas| format!(", {replicas} replicas"));
    let (before, install) = install::commands(cluster);
    let (result, message, fix) = match state.state {
        "running" => {
            (CheckState::Ok, format!("{version}{replicas} in {namespace}, {leader} leads"), None)
        }
        "late" => {
            let logs = format!("kubectl -n {namespace} logs -l app.kubernetes.io/name=mooring");
            let message = format!("{version}: {leader} does not renew its Lease");
            (CheckState::Failed, message, Some(logs))
        }
        // The Deployment is there.
        "not-running" if state.version.is_some() => {
            let (result, why, fix) = stopped(cluster).await;
            (result, format!("{version} is installed in {namespace}, but {why}"), Some(fix))
        }
        "not-running" => (
            CheckState::Warning,
            format!("not running in {namespace}: failures of deleted nodes are not recorded"),
            Some(install),
        ),
        _ => {
            let why = state.error.as_deref().unwrap_or("not read");
            (CheckState::Skipped, format!("unknown: {why}"), None)
        }
    };
    let used_by = ["status", "fleet", "why"];
    let mut checks =
        vec![DoctorCheck::new("controller", "running", result, message).used_by(&used_by).fix(fix)];
    if state.state == "not-running" && state.version.is_none() {
        checks = checks.into_iter().map(|check| check.first(before.clone())).collect();
    }
    let own = env!("CARGO_PKG_VERSION");
    if let Some(other) = state.version.as_deref().filter(|version| *version != own) {
        let message = format!("the controller is {other}, this command is {own}");
        checks.push(DoctorCheck::new("controller", "version", CheckState::Warning, message));
    }
    checks.extend(record(facts));
    if state.is_running() {
        checks.extend(installed::checks(&cluster.api, namespace).await);
    }
    checks
}

/// Reasons of Kubernetes for an image that cannot be pulled.
const NOT_PULLED: [&str; 3] = ["ErrImagePull", "ImagePullBackOff", "InvalidImageName"];

/// Returns what keeps an installed controller from leading, by its pods, and the command that helps.
async fn stopped(cluster: &ConnectedCluster) -> (CheckState, String, String) {
    let namespace = &cluster.facts.controller.namespace;
    let of_pods = "app.kubernetes.io%2Fname%3Dmooring";
    let path = format!("/api/v1/namespaces/{namespace}/pods?labelSelector={of_pods}");
    let kubectl = |words: &str| {
        format!("kubectl --namespace {namespace} {words} --selector app.kubernetes.io/name=mooring")
    };
    let pods: Value = match cluster.api.get(&path).await {
        Ok(text) => serde_json::from_str(&text).unwrap_or_default(),
        Err(error) => {
            let why = format!("no replica leads, and its pods were not read: {}", error.what);
            return (CheckState::Warning, why, kubectl("get pods"));
        }
    };
    let pods = || pods["items"].as_array().into_iter().flatten();
    let containers =
        || pods().flat_map(|pod| pod["status"]["containerStatuses"].as_array()).flatten();
    let waiting = |container: &Value| {
        container["state"]["waiting"]["reason"].as_str().unwrap_or_default().to_owned()
    };
    let not_pulled = |one: &&Value| NOT_PULLED.contains(&waiting(one).as_str());
    if let Some(container) = containers().find(not_pulled) {
        let image = container["image"].as_str().unwrap_or_default();
        let why = format!("its image {} cannot be pulled", printable(image));
        return (CheckState::Failed, why, check_pull(cluster, image));
    }
    if containers().any(|container| waiting(container) == "CrashLoopBackOff") {
        return (CheckState::Failed, "its pods stop".to_owned(), kubectl("logs --previous"));
    }
    let is_scheduled = |pod: &Value| pod["spec"]["nodeName"].is_string();
    if !pods().any(is_scheduled) {
        let why = "none of its pods has a node".to_owned();
        return (CheckState::Warning, why, kubectl("describe deployments,replicasets,pods"));
    }
    (CheckState::Warning, "no replica leads".to_owned(), kubectl("logs"))
}

pub(super) fn record(facts: &ClusterFacts) -> Option<DoctorCheck> {
    let source = facts.sources.iter().find(|source| source.name == SourceName::Record)?;
    let counts = if facts.inventory.counts.is_some() { ", with counts" } else { "" };
    let failures = facts.record.as_ref().map_or(0, |record| record.entries().count());
    let namespace = &facts.controller.namespace;
    let (state, message) = match source.state {
        SourceState::Read => (
            CheckState::Ok,
            format!("the failure record of {namespace} has {failures} failures{counts}"),
        ),
        SourceState::Stale => (
            CheckState::Warning,
            format!("the failure record of {namespace} has {failures} failures and is not updated"),
        ),
        SourceState::Absent => (CheckState::Skipped, format!("no failure record in {namespace}")),
        SourceState::Failed | SourceState::NotAsked => {
            let why = source.error.as_deref().unwrap_or("not read");
            (CheckState::Failed, format!("the failure record cannot be read: {why}"))
        }
    };
    let check = DoctorCheck::new("controller", "record", state, message);
    Some(check.used_by(&["status", "fleet", "why"]))
}
