//! Checks of Azure: sign-in, the cluster of the nodes, permissions.

use std::ffi::OsStr;

use mooring_arm::calls::Permission;
use mooring_arm::{BudgetLimits, Client, Raw, ResourceId};
use tokio::time::Instant;

use super::check::{CheckState, DoctorCheck};
use crate::arguments::{AzureMode, SourceArguments};
use crate::cluster::connect;
use crate::cluster::{AzureLimit, ConnectedCluster, FoundCluster, conflict, find_cluster};
use crate::output::failure::CommandFailure;

/// Actions at one scope.
struct Need {
    name: &'static str,
    /// True for the cluster, false for the node resource group.
    is_cluster: bool,
    actions: &'static [&'static str],
    allowed: &'static str,
    denied: &'static str,
    used_by: &'static [&'static str],
    role: &'static str,
    is_optional: bool,
}

const NEEDS: [Need; 3] = [
    Need {
        name: "vms",
        is_cluster: false,
        actions: &[
            "Microsoft.Compute/virtualMachines/read",
            "Microsoft.Compute/virtualMachineScaleSets/read",
            "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/read",
        ],
        allowed: "VMs can be read",
        denied: "VMs cannot be read",
        used_by: &["why", "fleet", "status"],
        role: "Reader",
        is_optional: false,
    },
    Need {
        name: "run-command",
        is_cluster: false,
        actions: &["Microsoft.Compute/virtualMachines/runCommand/action"],
        allowed: "commands can be run on VMs",
        denied: "commands cannot be run on VMs",
        used_by: &["why --run-command", "trace --run-command", "bundle --run-command"],
        role: "Virtual Machine Contributor",
        is_optional: true,
    },
    Need {
        name: "pools",
        is_cluster: true,
        actions: &[
            "Microsoft.ContainerService/managedClusters/read",
            "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",
            "Microsoft.ContainerService/managedClusters/agentPools/write",
            "Microsoft.ContainerService/managedClusters/agentPools/delete",
        ],
        allowed: "pools can be written",
        denied: "pools cannot be written",
        used_by: &["repair apply", "repair resume"],
        role: "Mooring repair",
        is_optional: false,
    },
];

/// Checks Azure; `cluster` is missing if it cannot be read.
pub(super) async fn checks(
    arguments: &SourceArguments,
    cluster: Option<&ConnectedCluster>,
) -> Vec<DoctorCheck> {
    if arguments.azure == AzureMode::Never {
        return vec![DoctorCheck::new("azure", "sign-in", CheckState::Skipped, "not asked")];
    }
    let limit = AzureLimit::start(arguments);
    let (arm, mut checks) = match sign_in(arguments, &limit).await {
        Ok(signed_in) => signed_in,
        Err(failure) => return vec![not_signed_in(&failure)],
    };
    let Some(cluster) = cluster else { return checks };
    match limit.read(cluster_checks(&arm, cluster)).await {
        Ok(more) => checks.extend(more),
        Err(failure) => {
            checks.push(DoctorCheck::new("azure", "response", CheckState::Failed, failure.text()));
        }
    }
    checks
}

async fn sign_in(
    arguments: &SourceArguments,
    limit: &AzureLimit,
) -> Result<(Client, Vec<DoctorCheck>), CommandFailure> {
    let arm =
        connect::azure_client(arguments.cluster.arm_endpoint.as_ref(), BudgetLimits::default())?;
    let started = Instant::now();
    let credential = limit.sign_in(&arm).await?;
    let took = started.elapsed().as_secs_f64();
    let way = credential.map_or_else(connect::credentials, |credential| credential.to_string());
    let message = format!("signed in by {way} in {took:.1}s");
    Ok((arm, vec![DoctorCheck::new("azure", "sign-in", CheckState::Ok, message)]))
}

fn not_signed_in(failure: &CommandFailure) -> DoctorCheck {
    DoctorCheck::new("azure", "sign-in", CheckState::Failed, failure.first_line())
        .used_by(&["why", "fleet", "status", "repair"])
        .fix(Some(login(std::env::var_os("PATH").as_deref())))
}

/// Returns the command that signs in, with what it needs if the Azure CLI is not in these directories.
fn login(directories: Option<&OsStr>) -> String {
    let mut directories = std::env::split_paths(directories.unwrap_or_default());
    if directories.any(|directory| directory.join("az").is_file()) {
        return "az login".to_owned();
    }
    "az login, after installing the Azure CLI: https://aka.ms/azure-cli".to_owned()
}

async fn cluster_checks(arm: &Client, read: &ConnectedCluster) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    let found = match &read.scope {
        Some(scope) => find_cluster(arm, scope).await.ok().flatten(),
        None => None,
    };
    checks.push(which(read, found.as_ref()));
    let group = read.scope.as_ref().and_then(|scope| {
        let (subscription, group) = (&scope.subscription, &scope.node_resource_group);
        ResourceId::parse(&format!("/subscriptions/{subscription}/resourceGroups/{group}")).ok()
    });
    let assignee = arm.object_id().await;
    let cluster = found.map(|found| found.id);
    for (is_cluster, scope) in [(false, group), (true, cluster)] {
        let Some(scope) = scope else { continue };
        let granted = arm.permissions(&scope).await;
        for need in NEEDS.iter().filter(|need| need.is_cluster == is_cluster) {
            checks.push(match &granted {
                Ok(granted) => permission(need, granted, &scope, assignee.as_deref()),
                Err(error) => {
                    let message = format!("permissions of {} were not read: {error}", scope.name());
                    DoctorCheck::new("azure", need.name, CheckState::Unknown, message)
                        .used_by(need.used_by)
                }
            });
        }
    }
    checks
}

/// Checks that the API server is that of the cluster of the nodes.
fn which(read: &ConnectedCluster, found: Option<&FoundCluster>) -> DoctorCheck {
    let new = |state, message: String| DoctorCheck::new("cluster", "aks", state, message);
    let Some(found) = found else {
        let text = "the AKS cluster was not found from the nodes";
        return new(CheckState::Skipped, text.to_owned()).used_by(&["repair --context"]);
    };
    let (id, server) = (&found.id, read.facts.identity.server.as_deref().unwrap_or_default());
    if read.named.differs(id) {
        let unset = "unset CLUSTER_NAME RESOURCE_GROUP SUBSCRIPTION_ID AZURE_SUBSCRIPTION_ID";
        return new(CheckState::Failed, conflict(&read.named, id))
            .used_by(&["repair", "finalizers"])
            .fix(Some(unset.to_owned()));
    }
    let name = format!("{} in {}", id.name(), id.resource_group().unwrap_or_default());
    if found.has_server(server) {
        new(CheckState::Ok, format!("{name}, from the nodes; the FQDN matches"))
    } else {
        let text = format!("{name}, from the nodes; not proven: {server} is not its FQDN");
        new(CheckState::Warning, text).used_by(&["repair --context"])
    }
}

fn permission(
    need: &Need,
    granted: &[Raw<Permission>],
    scope: &ResourceId,
    assignee: Option<&str>,
) -> DoctorCheck {
    let is_granted = |action: &&str| granted.iter().any(|one| one.covers(action));
    let lacks: Vec<String> = need
        .actions
        .iter()
        .filter(|action| !is_granted(action))
        .map(|&one| one.to_owned())
        .collect();
    let at = scope.name();
    if lacks.is_empty() {
        let message = format!("{} in {at}", need.allowed);
        return DoctorCheck::new("azure", need.name, CheckState::Ok, message).used_by(need.used_by);
    }
    let state = if need.is_optional { CheckState::Skipped } else { CheckState::Failed };
    let who = assignee.map_or_else(
        || "\"$(az ad signed-in-user show --query id -o tsv)\"".to_owned(),
        mooring_redact::shell_word,
    );
    let fix = format!(
        "az role assignment create --role \"{}\" --assignee {who} --scope {}",
        need.role,
        mooring_redact::shell_word(scope.as_str())
    );
    DoctorCheck::new("azure", need.name, state, format!("{} in {at}", need.denied))
        .used_by(need.used_by)
        .lacks(lacks)
        .fix(Some(fix))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests may write files directly")]
mod tests {
    use super::login;

    #[test]
    fn fix_to_sign_in_depends_on_the_azure_cli() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().as_os_str();
        let text = "az login, after installing the Azure CLI: https://aka.ms/azure-cli";
        assert_eq!([login(Some(path)), login(None)], [text, text]);
        std::fs::write(directory.path().join("az"), "").unwrap();
        assert_eq!(login(Some(path)), "az login");
    }
}
