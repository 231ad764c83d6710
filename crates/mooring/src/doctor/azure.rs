//! Checks of Azure: sign-in, the cluster of the nodes, permissions.

use std::ffi::OsStr;

use mooring_arm::calls::Permission;
use mooring_arm::{BudgetLimits, Client, Error, ResourceId};
use tokio::time::Instant;

use super::check::{CheckState, DoctorCheck, Part};
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
        return vec![DoctorCheck::new(Part::Azure, "sign-in", CheckState::Skipped, "not asked")];
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
            checks.push(DoctorCheck::new(
                Part::Azure,
                "response",
                CheckState::Failed,
                failure.text(),
            ));
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
    Ok((arm, vec![DoctorCheck::new(Part::Azure, "sign-in", CheckState::Ok, message)]))
}

fn not_signed_in(failure: &CommandFailure) -> DoctorCheck {
    DoctorCheck::new(Part::Azure, "sign-in", CheckState::Failed, failure.first_line())
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
        Some(scope) => find_cluster(arm, scope).await,
        None => Ok(None),
    };
    checks.push(which(read, found.as_ref().map(Option::as_ref)));
    let found = found.ok().flatten();
    let group = read.scope.as_ref().and_then(|scope| {
        let (subscription, group) = (&scope.subscription, &scope.node_resource_group);
        ResourceId::parse(&format!("/subscriptions/{subscription}/resourceGroups/{group}")).ok()
    });
    let assignee = arm.object_id().await;
    let cluster = found.map(|found| found.id);
    for (is_cluster, scope) in [(false, group), (true, cluster)] {
        let Some(scope) = scope else { continue };
        let granted = arm.permissions(&scope).await;
        let needs = NEEDS.iter().filter(|need| need.is_cluster == is_cluster);
        checks.extend(needs.map(|need| permission(need, &granted, &scope, assignee.as_deref())));
    }
    checks
}

/// Checks that the API server is that of the cluster of the nodes.
fn which(read: &ConnectedCluster, found: Result<Option<&FoundCluster>, &Error>) -> DoctorCheck {
    let check = |state, message: String| DoctorCheck::new(Part::Aks, "aks", state, message);
    let unproven = |state, message: String| check(state, message).used_by(&["repair --context"]);
    let found = match found {
        Ok(Some(found)) => found,
        Ok(None) => {
            let text = "the AKS cluster was not found from the nodes";
            return unproven(CheckState::Skipped, text.to_owned());
        }
        Err(error) => {
            let text = format!("the AKS cluster of the nodes was not read: {error}");
            return unproven(CheckState::Unknown, text);
        }
    };
    let id = &found.id;
    if read.named.differs(id) {
        let unset = "unset CLUSTER_NAME RESOURCE_GROUP SUBSCRIPTION_ID AZURE_SUBSCRIPTION_ID";
        return check(CheckState::Failed, conflict(&read.named, id))
            .used_by(&["repair", "finalizers"])
            .fix(Some(unset.to_owned()));
    }
    let name = format!("{} in {}, from the nodes", id.name(), id.resource_group().unwrap_or("?"));
    match read.facts.identity.server.as_deref() {
        Some(server) if found.has_server(server) => {
            check(CheckState::Ok, format!("{name}; the FQDN matches"))
        }
        server => {
            let server = server.unwrap_or("an unknown server");
            let text = format!("{name}; not proven: {server} is not its FQDN");
            unproven(CheckState::Warning, text)
        }
    }
}

fn permission(
    need: &Need,
    granted: &Result<Vec<Permission>, Error>,
    scope: &ResourceId,
    assignee: Option<&str>,
) -> DoctorCheck {
    let at = scope.name();
    let check = |state, message: String| {
        DoctorCheck::new(Part::Azure, need.name, state, message).used_by(need.used_by)
    };
    let granted = match granted {
        Ok(granted) => granted,
        Err(error) => {
            let message = format!("permissions of {at} were not read: {error}");
            return check(CheckState::Unknown, message);
        }
    };
    let is_granted = |action: &&str| granted.iter().any(|one| one.covers(action));
    let lacks: Vec<String> = need
        .actions
        .iter()
        .filter(|action| !is_granted(action))
        .map(|&one| one.to_owned())
        .collect();
    if lacks.is_empty() {
        return check(CheckState::Ok, format!("{} in {at}", need.allowed));
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
    check(state, format!("{} in {at}", need.denied)).lacks(lacks).fix(Some(fix))
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
