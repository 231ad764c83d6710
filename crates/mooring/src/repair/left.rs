//! What an earlier run left.

use mooring_repair::begin::BeginError;
use mooring_repair::report::DetectionReport;
use mooring_repair::shell::{ApiUnavailable, CommandResult, JournalStatus, Operator};
use mooring_repair::workflow::Record;
use mooring_repair::workflow::Run;

use crate::failure::Failure;
use crate::runs::{unfinished_result, with_progress, write};

/// What an earlier run left, before anything is judged: a pool that was deleted and not made again looks like no
/// pool at all.
pub(crate) async fn left(operator: &mut Operator) -> Result<Option<CommandResult>, Failure> {
    // Without a journal to read, the guards say what is wrong.
    let Ok(standing) = operator.status().await else { return Ok(None) };
    let Some(state) = unfinished(operator, &standing.records)? else { return Ok(None) };
    Ok(Some(unfinished_result(standing.lock, BeginError::Unfinished(state.id))))
}

/// Reads the journal; fails if the named cluster does not exist.
pub(crate) async fn standing(operator: &mut Operator) -> Result<JournalStatus, Failure> {
    match with_progress(operator.status()).await {
        Err(ApiUnavailable::Absent(_)) => Err(not_found(operator)),
        read => Ok(read?),
    }
}

/// Warns of a run that Mooring 0.1 left unfinished in its own place.
pub(crate) async fn warn_of_0_1(operator: &mut Operator) {
    if let Some(place) = operator.unfinished_0_1().await {
        write(&format!(
            "warning: {place} holds an unfinished run of Mooring 0.1, which this version does not continue\nhint: finish it with `mooring repair resume` or `abort` of Mooring 0.1.0\n"
        ));
    }
}

/// Fails if Azure has no cluster of this name. A journal in a file, or in the cluster of a kubeconfig, can be read
/// although the name is misspelled.
pub(crate) async fn ensure_exists(operator: &mut Operator) -> Result<(), Failure> {
    if operator.is_absent().await { Err(not_found(operator)) } else { Ok(()) }
}

/// Fails if the cluster that was examined does not exist.
pub(crate) fn ensure_found(report: &DetectionReport, operator: &Operator) -> Result<(), Failure> {
    if report.greenfield { Err(not_found(operator)) } else { Ok(()) }
}

fn not_found(operator: &Operator) -> Failure {
    Failure::io(format!(
        "{}\nhint: check --cluster, --resource-group and --subscription (CLUSTER_NAME, RESOURCE_GROUP, SUBSCRIPTION_ID); `az aks list -o table` lists the clusters",
        absence(operator)
    ))
}

/// `cluster C was not found in resource group G of subscription S`.
pub(crate) fn absence(operator: &Operator) -> String {
    let target = &operator.settings().target;
    let [cluster, group, subscription] =
        [&target.cluster, &target.resource_group, &target.subscription]
            .map(|name| mooring_redact::identifier(name));
    format!(
        "cluster {cluster} was not found in resource group {group} of subscription {subscription}"
    )
}

impl From<ApiUnavailable> for Failure {
    fn from(unreached: ApiUnavailable) -> Self {
        let failure = Self::io(unreached.why().to_owned());
        match unreached {
            ApiUnavailable::Throttled(_) => failure.with_code(6),
            ApiUnavailable::Absent(_) | ApiUnavailable::Failed(_) => failure,
        }
    }
}

/// Fails if a temporary pool is there although the journal knows of no run: somebody deleted a pool and did not make it
/// again, and a guard that says *there is no such pool* must not hide that.
pub(crate) fn nobody_stands_in(report: &DetectionReport) -> Result<(), Failure> {
    match &report.temporary_pool {
        None => Ok(()),
        Some(left) => Err(Failure::blocked(format!(
            "{left}; no run of this journal is under way\nhint: `mooring repair status --all --journal` with that one tells how far it is, and `resume` continues it; only if that run is over and the pool is well, drain the temporary pool and delete it (docs/RUNBOOK.md)"
        ))),
    }
}

/// The journal's last run, if it is not over; fails if it is another pool's.
pub(crate) fn unfinished(operator: &Operator, records: &[Record]) -> Result<Option<Run>, Failure> {
    let state = Run::replay(records).map_err(|error| Failure::io(error.to_string()))?;
    let state = state.filter(|state| !state.is_finished());
    if let Some(state) = &state {
        operator.own(state).map_err(Failure::io)?;
    }
    Ok(state)
}
