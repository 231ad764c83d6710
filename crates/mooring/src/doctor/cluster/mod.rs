//! Checks of the API server: connection, clock, permissions, Karpenter and the controller.

#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::Timestamp;
use mooring_k8s::Access;
use mooring_nodes::{ClusterFacts, record};
use mooring_redact::{printable, shell_word};
use mooring_workflow::Outcome;
use mooring_workflow::plural::counted;
use mooring_workflow::published::{SourceName, SourceState};
use mooring_workflow::store::{IfMissing, JOURNAL, MANIFEST, NAMESPACE, check_namespace};
use serde_json::Value;
use tokio::time::Instant;

use super::check::{CheckState, DoctorCheck, Part};
use super::installed;
use crate::cluster::ConnectedCluster;

/// Signatures and Leases tolerate less than this.
const MAX_SKEW: f64 = 5.0;

/// Checks connection and clock with one request.
pub(super) async fn connection(cluster: &ConnectedCluster) -> Vec<DoctorCheck> {
    let facts = &cluster.facts;
    let started = Instant::now();
    let response = cluster.client.get("/version").await;
    let took = started.elapsed();
    let context = match &facts.identity.context {
        Some(context) => format!("context {context}"),
        None => "the service account of the pod".to_owned(),
    };
    let version = facts.version.as_deref().unwrap_or("an unknown version");
    let server = facts.identity.server.as_deref().unwrap_or("a server without an address");
    let (state, answer) = match &response {
        Ok(_) => (CheckState::Ok, format!("answers in {}ms", took.as_millis())),
        Err(lost) => (CheckState::Unknown, format!("does not answer any more ({})", lost.0)),
    };
    let message = format!("{context}: {server} {answer}, Kubernetes {version}");
    let date = response.ok().and_then(|response| response.date);
    let connection = DoctorCheck::new(Part::Cluster, "connection", state, message);
    let clock = date.map(|date| clock(date, Timestamp::now(), took));
    [connection].into_iter().chain(clock).collect()
}

/// The header has whole seconds.
fn clock(server: Timestamp, now: Timestamp, took: Duration) -> DoctorCheck {
    let apart = (now.duration_since(server).as_secs_f64() - 0.5).abs();
    let skew = (apart - 0.5 - took.as_secs_f64()).max(0.0);
    let message = format!("at most {apart:.1}s from the clock of the API server");
    if skew <= MAX_SKEW {
        return DoctorCheck::new(Part::Clock, "clock", CheckState::Ok, message);
    }
    let message =
        format!("{apart:.0}s from the clock of the API server: tokens and Leases may fail");
    DoctorCheck::new(Part::Clock, "clock", CheckState::Warning, message)
        .fix(Some("timedatectl set-ntp true".to_owned()))
}

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

/// Checks each permission. Nothing is tried.
pub(super) async fn permissions(cluster: &ConnectedCluster) -> Vec<DoctorCheck> {
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
            DoctorCheck::new(Part::Cluster, "permissions", state, message)
                .used_by(used_by)
                .lacks(vec![access.to_string()])
                .fix((state == CheckState::Failed).then(|| grant(access))),
        );
    }
    if !allowed.is_empty() {
        let message = format!("you may read {}", allowed.join(", "));
        checks.insert(0, DoctorCheck::new(Part::Cluster, "permissions", CheckState::Ok, message));
    }
    checks
}

/// Checks that workflows can write their journals.
pub(super) async fn journal(cluster: &ConnectedCluster) -> DoctorCheck {
    let namespace = &cluster.facts.controller.namespace;
    let check = check_namespace(&cluster.client, namespace, IfMissing::Report).await;
    let state = match check.outcome {
        Outcome::Pass => CheckState::Ok,
        Outcome::Unknown => CheckState::Skipped,
        Outcome::Fail => CheckState::Warning,
    };
    let message = match state {
        CheckState::Ok => check.detail(),
        CheckState::Skipped => format!(
            "whether journals can be written in {namespace} is not known: {}",
            check.detail()
        ),
        _ => format!("journals cannot be written in {namespace}: {}", check.detail()),
    };
    // The manifest is for the default namespace.
    let is_fixed_by_manifest = state == CheckState::Warning && namespace == NAMESPACE;
    DoctorCheck::new(Part::Cluster, JOURNAL, state, message)
        .used_by(&["repair", "finalizers"])
        .fix(is_fixed_by_manifest.then(|| format!("kubectl apply -f {MANIFEST}")))
}

/// Returns the command that an administrator runs: it grants lists in the cluster, and single objects in their namespace.
fn grant(access: Access<'_>) -> String {
    let role = format!("mooring-{}-{}", access.verb, access.resource);
    let user = "--user=\"$(kubectl auth whoami -o jsonpath='{.status.userInfo.username}')\"";
    let resource = match access.group {
        "" => access.resource.to_owned(),
        group => format!("{}.{group}", access.resource),
    };
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

pub(super) fn karpenter(facts: &ClusterFacts) -> Vec<DoctorCheck> {
    if !facts.has_karpenter {
        let message = "not installed: only AKS pools are shown";
        return vec![DoctorCheck::new(Part::Karpenter, "installed", CheckState::Skipped, message)];
    }
    let versions = match facts.karpenter.has_versions {
        Some(true) => "; images can be pinned (spec.versions of an AKSNodeClass)",
        Some(false) => "; images cannot be pinned: the AKSNodeClass has no spec.versions",
        None => "",
    };
    let is_failed = facts.source_state(SourceName::Cluster) == SourceState::Failed;
    let (state, pools) = match &facts.karpenter.node_pools {
        Some(pools) => (CheckState::Ok, counted(pools.len(), "NodePool")),
        None if is_failed => (CheckState::Warning, "NodePools were not read".to_owned()),
        None => (CheckState::Warning, "NodePools are not installed".to_owned()),
    };
    let message = format!("NodeClaims v1, {pools}{versions}");
    let mut checks = vec![DoctorCheck::new(Part::Karpenter, "installed", state, message)];
    for node in &facts.lost {
        let command = format!("kubectl delete node {}", shell_word(&node.name));
        checks.push(
            DoctorCheck::new(Part::Karpenter, "provider-id", CheckState::Failed, node.finding())
                .fix(Some(command)),
        );
    }
    checks
}

pub(super) async fn controller(cluster: &ConnectedCluster) -> Vec<DoctorCheck> {
    let facts = &cluster.facts;
    let state = &facts.controller;
    let namespace = &state.namespace;
    let version = state.version.as_deref().unwrap_or("of an unknown version");
    let leader = state.leader.as_deref().unwrap_or("no replica");
    let replicas =
        state.replicas.map_or_else(String::new, |replicas| format!(", {replicas} replicas"));
    let check = |state, message: String| {
        DoctorCheck::new(Part::Controller, "running", state, message)
            .used_by(&["status", "fleet", "why"])
    };
    let mut checks = vec![match state.state {
        "running" => {
            let message = format!("{version}{replicas} in {namespace}, {leader} leads");
            check(CheckState::Ok, message)
        }
        "late" => {
            let logs = format!("kubectl -n {namespace} logs -l app.kubernetes.io/name=mooring");
            let message = format!("{version}: {leader} does not renew its Lease");
            check(CheckState::Failed, message).fix(Some(logs))
        }
        // The Deployment is there.
        "not-running" if state.version.is_some() => {
            let (result, why, fix) = stopped(cluster).await;
            check(result, format!("{version} is installed in {namespace}, but {why}"))
                .fix(Some(fix))
        }
        "not-running" => {
            let (before, install) = install_commands(cluster);
            let message =
                format!("not running in {namespace}: failures of deleted nodes are not recorded");
            check(CheckState::Warning, message).first(before).fix(Some(install))
        }
        _ => {
            let why = state.error.as_deref().unwrap_or("not read");
            check(CheckState::Skipped, format!("unknown: {why}"))
        }
    }];
    let own = env!("CARGO_PKG_VERSION");
    if let Some(other) = state.version.as_deref().filter(|version| *version != own) {
        let message = format!("the controller is {other}, this command is {own}");
        checks.push(DoctorCheck::new(Part::Controller, "version", CheckState::Warning, message));
    }
    checks.extend(failure_record(facts));
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
    let text = cluster.api.get(&path).await.map_err(|error| error.what);
    let list = text.and_then(|text| {
        serde_json::from_str::<Value>(&text)
            .map_err(|_| "the response is not valid JSON".to_owned())
    });
    let list = match list {
        Ok(list) => list,
        Err(error) => {
            let why = format!("no replica leads, and its pods were not read: {error}");
            return (CheckState::Warning, why, kubectl("get pods"));
        }
    };
    let pods = || list["items"].as_array().into_iter().flatten();
    let containers =
        || pods().filter_map(|pod| pod["status"]["containerStatuses"].as_array()).flatten();
    let is_waiting = |container: &Value, reasons: &[&str]| {
        let reason = container["state"]["waiting"]["reason"].as_str();
        reason.is_some_and(|reason| reasons.contains(&reason))
    };
    let not_pulled = |one: &&Value| is_waiting(one, &NOT_PULLED);
    if let Some(container) = containers().find(not_pulled) {
        let image = container["image"].as_str().unwrap_or("of unknown name");
        let why = format!("its image {} cannot be pulled", printable(image));
        return (CheckState::Failed, why, check_pull(cluster, image));
    }
    if containers().any(|container| is_waiting(container, &["CrashLoopBackOff"])) {
        return (CheckState::Failed, "its pods stop".to_owned(), kubectl("logs --previous"));
    }
    let is_scheduled = |pod: &Value| pod["spec"]["nodeName"].is_string();
    if !pods().any(is_scheduled) {
        let why = "none of its pods has a node".to_owned();
        return (CheckState::Warning, why, kubectl("describe deployments,replicasets,pods"));
    }
    (CheckState::Warning, "no replica leads".to_owned(), kubectl("logs"))
}

fn failure_record(facts: &ClusterFacts) -> Option<DoctorCheck> {
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
    let check = DoctorCheck::new(Part::Controller, "record", state, message);
    Some(check.used_by(&["status", "fleet", "why"]))
}

/// Returns the commands that install the controller, in the order in which they succeed: those before the installation, and
/// the installation. Names that are not known are placeholders.
fn install_commands(cluster: &ConnectedCluster) -> (Vec<String>, String) {
    /// Namespace of the chart in the Bicep file.
    const CHART_NAMESPACE: &str = "mooring-system";
    let (facts, scope) = (&cluster.facts, cluster.scope.as_ref());
    let subscription = scope.map(|scope| scope.subscription.as_str());
    let subscription = subscription.or_else(|| of_id(cluster, "subscriptions"));
    let subscription = known(subscription, "SUBSCRIPTION-ID");
    let group = known(of_id(cluster, "resourceGroups"), "RG");
    let name = known(facts.identity.name.as_deref(), "CLUSTER");
    let nodes = scope.map(|scope| scope.node_resource_group.as_str());
    let nodes = known(nodes, "MC_RG_CLUSTER_REGION");
    let namespace = shell_word(&facts.controller.namespace);
    let of_namespace = match namespace.as_str() {
        CHART_NAMESPACE => String::new(),
        other => format!(" namespace={other}"),
    };
    let version = env!("CARGO_PKG_VERSION");
    let before = vec![
        format!(
            "az deployment group create --resource-group {group} --template-file packaging/identity/main.bicep --parameters cluster={name} nodeResourceGroup={nodes}{of_namespace}"
        ),
        format!(
            "cargo xtask dist && skopeo copy --all oci-archive:target/dist/mooring-image-{version}.oci.tar:{version} docker://REGISTRY/mooring:{version}"
        ),
    ];
    let install = format!(
        "helm install mooring charts/mooring --namespace {namespace} --create-namespace --set image.repository=REGISTRY/mooring --set azure.clientId=\"$(az identity show --name mooring --resource-group {group} --query clientId -o tsv)\" --set azure.subscriptionId={subscription} --set azure.nodeResourceGroup={nodes}"
    );
    (before, install)
}

/// Returns the command that checks whether the nodes of the cluster can pull an image.
fn check_pull(cluster: &ConnectedCluster, image: &str) -> String {
    let group = known(of_id(cluster, "resourceGroups"), "RG");
    let name = known(cluster.facts.identity.name.as_deref(), "CLUSTER");
    let registry = image.split_once('/').map_or("REGISTRY", |(registry, _)| registry);
    let registry = shell_word(registry);
    format!("az aks check-acr --name {name} --resource-group {group} --acr {registry}")
}

/// Returns a part of the resource id of the cluster.
fn of_id<'a>(cluster: &'a ConnectedCluster, kind: &str) -> Option<&'a str> {
    let mut parts = cluster.facts.identity.id.as_deref()?.split('/');
    parts.find(|part| part.eq_ignore_ascii_case(kind))?;
    parts.next()
}

/// Returns a name as a word of a command, or what to replace.
fn known(name: Option<&str>, placeholder: &str) -> String {
    name.map_or_else(|| placeholder.to_owned(), shell_word)
}
