//! Checks of the API server: connection, permissions, clock, Karpenter and the controller.

#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::Timestamp;
use mooring_controller::record;
use mooring_inventory::Facts;
use mooring_kube::Access;
use mooring_workflow::published::{SourceName, SourceState};
use tokio::time::Instant;

use crate::cluster::Cluster;
use crate::doctor::check::{Check, CheckState};
use crate::doctor::installed;

/// Signatures and Leases tolerate less than this.
const MAX_SKEW: f64 = 5.0;

/// Permissions, with the commands that need them.
const PERMISSIONS: [(Access<'static>, &str, &[&str]); 7] = [
    (list("", "nodes"), "nodes", &["status", "fleet", "why"]),
    (list("karpenter.sh", "nodeclaims"), "NodeClaims", &["status", "fleet", "why"]),
    (list("karpenter.sh", "nodepools"), "NodePools", &["why"]),
    (list("", "events"), "events", &["bundle", "trace"]),
    (list("apps", "deployments"), "Deployments", &["status", "doctor"]),
    (get("", "configmaps", record::NAME), "the failure record", &["status", "fleet", "why"]),
    (get("coordination.k8s.io", "leases", "mooring"), "the Lease of the controller", &["status"]),
];

const fn list(group: &'static str, resource: &'static str) -> Access<'static> {
    Access { verb: "list", group, resource, namespace: None, name: None }
}

/// One object in the namespace of the controller.
const fn get(group: &'static str, resource: &'static str, name: &'static str) -> Access<'static> {
    Access { verb: "get", group, resource, namespace: None, name: Some(name) }
}

/// Checks connection and clock with one request.
pub(super) async fn connection(cluster: &Cluster) -> Vec<Check> {
    let facts = &cluster.facts;
    let started = Instant::now();
    let response = cluster.client.get("/version").await;
    let took = started.elapsed();
    let context = match &facts.identity.context {
        Some(context) => format!("context {context}"),
        None => "the service account of the pod".to_owned(),
    };
    let version = facts.version.as_deref().unwrap_or("an unknown version");
    let server = facts.identity.server.as_deref().unwrap_or_default();
    let message =
        format!("{context}: {server} answers in {}ms, Kubernetes {version}", took.as_millis());
    let mut checks = vec![Check::new("cluster", "connection", CheckState::Ok, message)];
    let date = response.ok().and_then(|response| response.date);
    checks.extend(date.map(|date| clock(date, Timestamp::now(), took)));
    checks
}

/// The header has whole seconds.
fn clock(server: Timestamp, now: Timestamp, took: Duration) -> Check {
    let apart = (now.duration_since(server).as_secs_f64() - 0.5).abs();
    let skew = (apart - 0.5 - took.as_secs_f64()).max(0.0);
    let message = format!("at most {apart:.1}s from the clock of the API server");
    if skew <= MAX_SKEW {
        return Check::new("cluster", "clock", CheckState::Ok, message);
    }
    let message =
        format!("{apart:.0}s from the clock of the API server: tokens and Leases may fail");
    Check::new("cluster", "clock", CheckState::Warning, message)
        .fix(Some("timedatectl set-ntp true".to_owned()))
}

/// Checks each permission. Nothing is tried.
pub(super) async fn permissions(cluster: &Cluster) -> Vec<Check> {
    let namespace = cluster.facts.controller.namespace.as_str();
    let reviews = PERMISSIONS.iter().map(|(access, what, used_by)| async move {
        let namespace = (access.verb == "get").then_some(namespace);
        let access = Access { namespace, ..*access };
        (access, *what, *used_by, cluster.client.may(access).await)
    });
    let mut allowed = Vec::new();
    let mut checks = Vec::new();
    for (access, what, used_by, result) in futures::future::join_all(reviews).await {
        let (state, message) = match result {
            Ok(true) => {
                allowed.push(what);
                continue;
            }
            Ok(false) => (CheckState::Failed, format!("you may not read {what}")),
            Err(error) => {
                let message = format!("the permission to read {what} is not known: {error}");
                (CheckState::Skipped, message)
            }
        };
        checks.push(
            Check::new("cluster", "permissions", state, message)
                .used_by(used_by)
                .lacks(vec![shown(access)])
                .fix((state == CheckState::Failed).then(|| grant(access))),
        );
    }
    if !allowed.is_empty() {
        let message = format!("you may read {}", allowed.join(", "));
        checks.insert(0, Check::new("cluster", "permissions", CheckState::Ok, message));
    }
    checks
}

fn resource(access: Access<'_>) -> String {
    match access.group {
        "" => access.resource.to_owned(),
        group => format!("{}.{group}", access.resource),
    }
}

fn shown(access: Access<'_>) -> String {
    let namespace = access.namespace.map_or_else(String::new, |name| format!(" in {name}"));
    format!("{} {}{namespace}", access.verb, resource(access))
}

/// Returns the command that an administrator runs: it grants lists in the cluster, and single objects in their namespace.
fn grant(access: Access<'_>) -> String {
    let role = format!("mooring-{}-{}", access.verb, access.resource);
    let user = "--user=\"$(kubectl auth whoami -o jsonpath='{.status.userInfo.username}')\"";
    let resource = resource(access);
    let (Some(namespace), Some(name)) = (access.namespace, access.name) else {
        return format!(
            "kubectl create clusterrole {role} --verb=get,list --resource={resource} && kubectl create clusterrolebinding {role} --clusterrole={role} {user}"
        );
    };
    // Counts are part of the failure record.
    let counts = if name == record::NAME {
        format!(" --resource-name={}", record::counts::NAME)
    } else {
        String::new()
    };
    format!(
        "kubectl --namespace {namespace} create role {role} --verb=get --resource={resource} --resource-name={name}{counts} && kubectl --namespace {namespace} create rolebinding {role} --role={role} {user}"
    )
}

pub(super) fn karpenter(facts: &Facts) -> Vec<Check> {
    if !facts.has_karpenter {
        let message = "not installed: only AKS pools are shown";
        return vec![Check::new("karpenter", "installed", CheckState::Skipped, message)];
    }
    let pools = match facts.node_pools.len() {
        1 => "1 NodePool".to_owned(),
        pools => format!("{pools} NodePools"),
    };
    let versions = match facts.has_versions {
        Some(true) => "; images can be pinned (spec.versions of an AKSNodeClass)",
        Some(false) => "; images cannot be pinned: the AKSNodeClass has no spec.versions",
        None => "",
    };
    let message = format!("NodeClaims v1, {pools}{versions}");
    let mut checks = vec![Check::new("karpenter", "installed", CheckState::Ok, message)];
    for node in &facts.lost {
        let command = format!("kubectl delete node {}", mooring_redact::shell_word(&node.name));
        checks.push(
            Check::new("karpenter", "provider-id", CheckState::Failed, node.finding())
                .fix(Some(command)),
        );
    }
    checks
}

pub(super) async fn controller(cluster: &Cluster) -> Vec<Check> {
    let facts = &cluster.facts;
    let state = &facts.controller;
    let namespace = &state.namespace;
    let version = state.version.as_deref().unwrap_or("of an unknown version");
    let leader = state.leader.as_deref().unwrap_or("no replica");
    let replicas =
        state.replicas.map_or_else(String::new, |replicas| format!(", {replicas} replicas"));
    let install =
        format!("helm install mooring charts/mooring --namespace {namespace} --create-namespace");
    let (result, message, fix) = match state.state {
        "running" => {
            (CheckState::Ok, format!("{version}{replicas} in {namespace}, {leader} leads"), None)
        }
        "late" => {
            let logs = format!("kubectl -n {namespace} logs -l app.kubernetes.io/name=mooring");
            (
                CheckState::Failed,
                format!("{version}: {leader} does not renew its Lease"),
                Some(logs),
            )
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
        vec![Check::new("controller", "running", result, message).used_by(&used_by).fix(fix)];
    let own = env!("CARGO_PKG_VERSION");
    if let Some(other) = state.version.as_deref().filter(|version| *version != own) {
        let message = format!("the controller is {other}, this command is {own}");
        checks.push(Check::new("controller", "version", CheckState::Warning, message));
    }
    checks.extend(record(facts));
    if state.is_running()
        && let Some(leader) = &state.leader
    {
        let (hooks, installed) =
            tokio::join!(hooks(cluster, leader), installed::checks(&cluster.api, namespace));
        checks.extend(hooks);
        checks.extend(installed);
    }
    checks
}

fn record(facts: &Facts) -> Option<Check> {
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
    Some(Check::new("controller", "record", state, message).used_by(&["status", "fleet", "why"]))
}

/// Reads deliveries of notifications from the metrics of the leader.
async fn hooks(cluster: &Cluster, leader: &str) -> Vec<Check> {
    let namespace = &cluster.facts.controller.namespace;
    let path = format!("/api/v1/namespaces/{namespace}/pods/{leader}:8080/proxy/metrics");
    // Metrics are not JSON, so they are read as text.
    match cluster.api.get(&path).await.map_err(|error| error.what) {
        Ok(text) => undelivered(&text),
        Err(why) => {
            let message = format!("notification hooks were not read: {why}");
            vec![Check::new("controller", "hooks", CheckState::Skipped, message)]
        }
    }
}

fn undelivered(metrics: &str) -> Vec<Check> {
    let label = |line: &str, name: &str| {
        let (_, rest) = line.split_once(&format!("{name}=\""))?;
        rest.split_once('"').map(|(value, _)| value.to_owned())
    };
    let lines = metrics.lines().filter(|line| line.starts_with("mooring_notifications_total{"));
    let mut checks = Vec::new();
    for line in lines {
        let count: f64 = line.rsplit(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0);
        let (hook, result) = (label(line, "hook"), label(line, "result"));
        if let (Some(hook), Some("undelivered" | "failed"), true) =
            (hook, result.as_deref(), count > 0.0)
        {
            let message = format!("hook {hook}: {count} notifications were not delivered");
            checks.push(Check::new("controller", "hooks", CheckState::Warning, message));
        }
    }
    checks
}
