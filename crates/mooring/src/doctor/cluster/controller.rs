//! The controller and its failure record.

use mooring_nodes::ClusterFacts;
use mooring_workflow::published::{SourceName, SourceState};

use super::install;
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
    if state.state == "not-running" {
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
