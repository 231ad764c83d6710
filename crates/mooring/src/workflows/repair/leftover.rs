//! Unfinished runs and leftover pools.

use mooring_repair::report::DetectionReport;
use mooring_repair::runtime::{ApiUnavailable, CommandResult, JournalStatus, Operator};
use mooring_repair::start_checks::StartError;
use mooring_repair::workflow::Run;

use crate::output::failure::CommandFailure;
use crate::workflows::runs::unfinished_result;
use mooring_terminal::suggest;

/// Finds an unfinished run before checks: a pool that was deleted and not recreated looks like a missing pool.
pub(crate) async fn find_unfinished_run(
    operator: &mut Operator,
) -> Result<Option<CommandResult>, CommandFailure> {
    // Without a readable journal, the checks show the reason.
    let Ok(status) = operator.status().await else { return Ok(None) };
    let Some(state) = unfinished(operator, &status)? else { return Ok(None) };
    Ok(Some(unfinished_result(status.lock, StartError::Unfinished(state.id))))
}

/// Fails if the cluster does not exist. A journal in the cluster of a kubeconfig can be read even if the name is misspelled.
pub(crate) async fn ensure_exists(operator: &mut Operator) -> Result<(), CommandFailure> {
    if operator.is_absent().await { Err(not_found(operator)) } else { Ok(()) }
}

/// Fails if the cluster or the pool does not exist.
pub(crate) async fn ensure_found(
    report: &DetectionReport,
    operator: &mut Operator,
) -> Result<(), CommandFailure> {
    if report.greenfield {
        return Err(not_found(operator));
    }
    match &report.other_pools {
        Some(pools) => Err(unknown_pool(operator, pools, "detect").await),
        None => Ok(()),
    }
}

/// Returns the error of a pool that is none of these. `command` is that of the hint.
pub(crate) async fn unknown_pool(
    operator: &mut Operator,
    pools: &[String],
    command: &str,
) -> CommandFailure {
    let is_node_pool = operator.is_node_pool().await;
    let target = &operator.settings().target;
    let names = pools.iter().map(String::as_str);
    let hint = suggest::hint(&target.pool, names, &format!("mooring repair {command} --pool"))
        .unwrap_or_else(|| format!("hint: pools: {}", pools.join(", ")));
    let [cluster, pool] =
        [&target.cluster, &target.pool].map(|name| mooring_redact::identifier(name));
    if is_node_pool {
        return CommandFailure::unknown_name(format!(
            "`{pool}` is a NodePool of Karpenter, which replaces nodes itself; `repair` rebuilds AKS node pools\nhint: `mooring why {pool}` shows its failed nodes; AKS node pools: {}",
            pools.join(", ")
        ));
    }
    CommandFailure::unknown_name(format!("cluster {cluster} has no pool `{pool}`\n{hint}"))
}

pub(crate) fn not_found(operator: &Operator) -> CommandFailure {
    CommandFailure::io(format!(
        "{}\nhint: check --cluster, --resource-group and --subscription (CLUSTER_NAME, RESOURCE_GROUP, SUBSCRIPTION_ID); `az aks list -o table` lists the clusters",
        absence(operator)
    ))
}

pub(crate) fn absence(operator: &Operator) -> String {
    let target = &operator.settings().target;
    let [cluster, group, subscription] =
        [&target.cluster, &target.resource_group, &target.subscription]
            .map(|name| mooring_redact::identifier(name));
    format!(
        "cluster {cluster} was not found in resource group {group} of subscription {subscription}"
    )
}

impl From<ApiUnavailable> for CommandFailure {
    fn from(unreached: ApiUnavailable) -> Self {
        let failure = Self::io(unreached.why().to_owned());
        match unreached {
            ApiUnavailable::Throttled(_) => failure.with_code(6),
            ApiUnavailable::Absent(_) | ApiUnavailable::Failed(_) => failure,
        }
    }
}

/// Fails if a temporary pool exists although the journal has no run: the pool may have been deleted and not recreated, which a
/// missing pool must not hide.
pub(crate) fn ensure_no_temporary_pool(report: &DetectionReport) -> Result<(), CommandFailure> {
    match &report.temporary_pool {
        None => Ok(()),
        Some(left) => Err(CommandFailure::blocked(format!(
            "{left}; this journal has no unfinished run\nhint: run `mooring repair status --all --journal` with that journal, and `resume` to continue; delete the temporary pool only if that run has finished and the pool is healthy (docs/RUNBOOK.md)"
        ))),
    }
}

/// Returns the last run if it is unfinished; fails if it belongs to another pool.
pub(crate) fn unfinished(
    operator: &Operator,
    journal: &JournalStatus,
) -> Result<Option<Run>, CommandFailure> {
    let Some(run) = journal.unfinished() else { return Ok(None) };
    operator.own(run).map_err(CommandFailure::io)?;
    Ok(Some(run.clone()))
}
