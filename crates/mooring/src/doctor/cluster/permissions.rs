//! Permissions of the user in the cluster.

use mooring_k8s::Access;
use mooring_nodes::record;
use mooring_workflow::Outcome;
use mooring_workflow::store::{IfMissing, JOURNAL, MANIFEST, NAMESPACE, check_namespace};

use crate::cluster::ConnectedCluster;
use crate::doctor::check::{CheckState, DoctorCheck};

/// Permissions, with the commands that need them.
pub(super) const PERMISSIONS: [(Access<'static>, &str, &[&str]); 7] = [
    (list("", "nodes"), "nodes", &["status", "fleet", "why"]),
    (list("karpenter.sh", "nodeclaims"), "NodeClaims", &["status", "fleet", "why"]),
    (list("karpenter.sh", "nodepools"), "NodePools", &["why"]),
    (list("", "events"), "events", &["bundle", "trace"]),
    (list("apps", "deployments"), "Deployments", &["status", "doctor"]),
    (get("", "configmaps", record::NAME), "the failure record", &["status", "fleet", "why"]),
    (get("coordination.k8s.io", "leases", "mooring"), "the Lease of the controller", &["status"]),
];

pub(super) const fn list(group: &'static str, resource: &'static str) -> Access<'static> {
    Access { verb: "list", group, resource, namespace: None, name: None }
}

/// One object in the namespace of the controller.
const fn get(group: &'static str, resource: &'static str, name: &'static str) -> Access<'static> {
    Access { verb: "get", group, resource, namespace: None, name: Some(name) }
}

/// Checks each permission. Nothing is tried.
pub(crate) async fn permissions(cluster: &ConnectedCluster) -> Vec<DoctorCheck> {
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
            DoctorCheck::new("cluster", "permissions", state, message)
                .used_by(used_by)
                .lacks(vec![access.to_string()])
                .fix((state == CheckState::Failed).then(|| grant(access))),
        );
    }
    if !allowed.is_empty() {
        let message = format!("you may read {}", allowed.join(", "));
        checks.insert(0, DoctorCheck::new("cluster", "permissions", CheckState::Ok, message));
    }
    checks
}

/// Checks that workflows can write their journals.
pub(crate) async fn journal(cluster: &ConnectedCluster) -> DoctorCheck {
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
    DoctorCheck::new("cluster", JOURNAL, state, message)
        .used_by(&["repair", "finalizers"])
        .fix(is_fixed_by_manifest.then(|| format!("kubectl apply -f {MANIFEST}")))
}

fn resource(access: Access<'_>) -> String {
    match access.group {
        "" => access.resource.to_owned(),
        group => format!("{}.{group}", access.resource),
    }
}

/// Returns the command that an administrator runs: it grants lists in the cluster, and single objects in their namespace.
pub(super) fn grant(access: Access<'_>) -> String {
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
