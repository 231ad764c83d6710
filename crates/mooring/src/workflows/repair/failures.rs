//! Why a command ends without a run: a missing cluster or pool, an unfinished run, a plan that may not start.

use mooring_repair::plan::PlanError;
use mooring_repair::report::DetectionReport;
use mooring_repair::resume::ResumeError;
use mooring_repair::runtime::{ApiUnavailable, CommandResult, JournalStatus, Operator};
use mooring_repair::start_checks::StartError;
use mooring_repair::workflow::Run;
use mooring_terminal::suggest;

use crate::output::failure::CommandFailure;
use crate::workflows::runs::unfinished_result;

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

pub(crate) fn no_plan(error: &PlanError) -> CommandFailure {
    match error {
        PlanError::Unread(..) => CommandFailure::io(error.to_string()),
        PlanError::Throttled(..) => CommandFailure::io(error.to_string()).with_code(6),
        PlanError::NoPool(_)
        | PlanError::NotRebuildable(_)
        | PlanError::NoSubnet(..)
        | PlanError::Pool(_) => CommandFailure::blocked(error.to_string()),
    }
}

/// Returns the failure of a run that cannot start. `flags` select the same run.
pub(crate) fn refusal(error: &StartError, flags: &str) -> CommandFailure {
    let hint = match error {
        StartError::Unfinished(_) => format!("`mooring repair resume{flags}` continues it"),
        StartError::PlanChanged { .. } | StartError::Expired(_) => {
            "`mooring repair plan` creates a new plan to approve".to_owned()
        }
        StartError::NotResumed(ResumeError::NotRepeated(_)) => format!(
            "repeat them, or run `mooring repair resume{flags}` without --yes and type the name"
        ),
        StartError::NotResumed(ResumeError::Contradicted(_)) => format!(
            "the journal was changed or replaced; see `mooring repair status{flags}` and docs/RUNBOOK.md"
        ),
        StartError::NotResumed(_) => format!(
            "pass `--plan-hash` with the hash that the run was started with, or run `mooring repair resume{flags}` without --yes and type the name"
        ),
        StartError::TooOften(_) => {
            "find the root cause; `--override recreations=REASON` starts the run anyway".to_owned()
        }
        StartError::Blocked(_) => {
            "`mooring repair plan` shows all checks; `--override CHECK=REASON` starts the run anyway, except for pool-name".to_owned()
        }
        StartError::Refused(_) => {
            "`mooring repair detect` shows why; `--override CHECK=REASON` starts the run anyway"
                .to_owned()
        }
    };
    CommandFailure::blocked(format!("{error}\nhint: {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_names_the_command_that_helps() {
        let flags = " --journal configmap/ops --pool user";
        let hint = |error: &StartError| {
            let failure = refusal(error, flags);
            assert_eq!(failure.code(), "blocked");
            failure.text().split_once("\nhint: ").unwrap().1.to_owned()
        };
        let unfinished = hint(&StartError::Unfinished("r".to_owned()));
        assert_eq!(unfinished, format!("`mooring repair resume{flags}` continues it"));
        let not_resumed = |why| hint(&StartError::NotResumed(why));
        let repeated = not_resumed(ResumeError::NotRepeated(vec!["--poll".to_owned()]));
        let expected = format!("repeat them, or run `mooring repair resume{flags}` without");
        assert!(repeated.starts_with(&expected), "{repeated}");
        let other = not_resumed(ResumeError::OtherPlan);
        assert!(other.starts_with("pass `--plan-hash` with the hash that the run"), "{other}");
    }

    #[test]
    fn throttled_plan_is_exit_6() {
        let code = |error: &PlanError| format!("{:?}", no_plan(error));
        let why = || "HTTP 429".to_owned();
        assert!(code(&PlanError::Throttled("pools", why())).contains("exit_code: 6"));
        assert!(code(&PlanError::Unread("pools", why())).contains("exit_code: 3"));
        assert!(code(&PlanError::NoPool("system".to_owned())).contains("exit_code: 4"));
    }
}
